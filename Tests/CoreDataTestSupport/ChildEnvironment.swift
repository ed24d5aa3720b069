// The environment of programs that tests start.

import Foundation

extension Process {
    /// Gives the program this process's environment, and more.
    ///
    /// Its part in a measurement of code coverage goes nowhere: a program that is killed while it writes leaves a broken profile, and one is
    /// enough for the report of the whole run to fail.
    package func inheritEnvironment(adding more: [String: String] = [:]) {
        environment = ProcessInfo.processInfo.environment.merging(more) { $1 }.merging([
            "LLVM_PROFILE_FILE": "/dev/null"
        ]) { $1 }
    }
}
