// The file behind a symbolic link.

import Foundation

extension String {
    /// The path of the file that symbolic links at the end of this one lead to, also where it is not there yet. SQLite puts a log beside
    /// that file, not beside a link, and so are all other things that belong to a store.
    package var linkTarget: String {
        var path = self
        // As many as Linux follows.
        for _ in 0..<40 {
            let target = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer -> String? in
                guard let base = buffer.baseAddress else { return nil }
                let count = readlink(path, base, buffer.count)
                guard count > 0 else { return nil }
                return String(
                    decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
            }
            guard let target else { break }
            let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
            path = target.utf8.first == UInt8(ascii: "/") ? target : folder + target
        }
        return path
    }
}

extension URL {
    /// The file that symbolic links at the end of a file's path lead to.
    package var linkTarget: URL {
        let path = path
        let target = path.linkTarget
        return target == path ? self : URL(fileURLWithPath: target)
    }
}
