// What a cancelled task makes of errors.

import Foundation

extension CocoaError {
    /// `CancellationError` for a read in a getter that ended because its task was cancelled, else the error itself.
    static func cancelledOr(_ error: any Error) -> any Error {
        guard let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? CancellationError else {
            return error
        }
        return cause
    }
}
