// A server that is asked to end.

import CoreDataTestSupport
import Foundation
import Testing

@testable import CoreData

@Suite("A server that is asked to end", .timeLimit(.minutes(30)))
struct CloseTests {
    @Test(
        "A process that closes its container at SIGTERM, in the middle of saves and reads, leaves no log",
        arguments: 0..<40)
    func sigterm(_ attempt: Int) throws {
        let folder = Folder()
        let store = folder.file("served.sqlite")
        let process = Process()
        let output = Pipe()
        process.executableURL = try VictimProcess.program.executable
        process.arguments = ["serve", store.path]
        process.standardOutput = output
        process.inheritEnvironment()
        try process.run()
        let reading = output.fileHandleForReading
        #expect(String(decoding: reading.availableData, as: UTF8.self) == "serving\n")
        #expect(FileManager.default.fileExists(atPath: store.path + "-wal"))
        process.terminate()
        #expect(String(decoding: reading.readDataToEndOfFile(), as: UTF8.self) == "closed\n")
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        #expect(try folder.names() == ["served.sqlite"])
        let raw = try SQLiteFile(store)
        #expect(try raw.isSound())
        #expect(try raw.rows("SELECT COUNT(*) >= 20 FROM ZPERSON") == ["1"])
    }
}
