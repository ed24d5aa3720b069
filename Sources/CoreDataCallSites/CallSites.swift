// Finding where in a program a call came from.

import Dispatch
@_spi(Internal) @_spi(MemoryReaders) import Runtime
import Synchronization

/// The call sites that were asked for, each address looked up once in a process.
package final class CallSites: Sendable {
    package static let shared = CallSites()

    /// What stands at a return address.
    private enum Place: Sendable {
        /// In this package or the system.
        case passing
        case site(CallSite)
    }
    private let known = Mutex<[UInt64: Place]>([:])
    /// Held during a look-up, which takes seconds and some hundred megabytes in a large program.
    private let lookups = Mutex(0)
    private let queue = DispatchQueue(label: "CoreData call sites", qos: .utility)
    /// As they were at the last look-up.
    private let images = Mutex(CallSites.loadedImages())

    init() {}

    /// How many stacks had to be looked up, which costs reading debug information. Waits for a look-up that runs.
    package var lookupCount: Int { lookups.withLock { $0 } }

    /// The innermost place on the caller's stack that is the program's own; nil where nothing is known.
    @inline(never)
    package func current() -> CallSite? {
        guard let trace = capture() else { return nil }
        if let answer = answer(trace.addresses) { return answer.site }
        return lookUp(trace)
    }

    /// Calls a block with that place: at once where it is known, else later and elsewhere, since the caller may have what others wait for.
    @inline(never)
    package func tellCurrent(_ receive: @escaping @Sendable (CallSite?) -> Void) {
        guard let trace = capture() else { return receive(nil) }
        if let answer = answer(trace.addresses) { return receive(answer.site) }
        queue.async { receive(self.lookUp(trace)) }
    }

    @inline(__always)
    private func capture() -> Backtrace? {
        // Without a list of images each capture reads one, which takes ten times as long.
        try? Backtrace.capture(limit: 96, images: images.withLock { $0 })
    }

    /// One at a time: whoever waited may find what he asks for.
    private func lookUp(_ trace: Backtrace) -> CallSite? {
        lookups.withLock { count in
            if let answer = answer(trace.addresses) { return answer.site }
            count += 1
            learn(trace)
            return answer(trace.addresses)?.site
        }
    }

    /// nil where an address comes before the first site that was not looked up yet.
    private func answer(_ addresses: [UInt64]) -> (site: CallSite?, Void)? {
        known.withLock { known in
            for address in addresses {
                switch known[address] {
                case nil: return nil
                case .passing: continue
                case .site(let site): return (site, ())
                }
            }
            return (nil, ())
        }
    }

    private func learn(_ trace: Backtrace) {
        let loaded = CallSites.loadedImages()
        images.withLock { $0 = loaded }
        let found = trace.symbolicated(with: loaded).map { Array($0.frames) } ?? []
        known.withLock { known in
            for frame in trace.frames {
                if let address = frame.address, known[address] == nil { known[address] = .passing }
            }
            // What was inlined comes before what it was inlined into.
            var seen: Set<UInt64> = []
            for frame in found {
                guard let address = frame.captured.address, !seen.contains(address),
                    let site = CallSites.site(of: frame)
                else { continue }
                seen.insert(address)
                known[address] = .site(site)
            }
        }
    }

    /// The images that are loaded, whose headers are read by copies. `ImageMap.capture()` looks at them in place, which ends the process
    /// when another thread unmaps a file meanwhile, as SQLite does when it closes one.
    private static func loadedImages() -> ImageMap { ImageMap.capture(using: LocalMemoryReader()) }

    // MARK: Whose code it is

    /// The folder of this package's sources, as the debug information has it.
    private static let ownSources =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/") + "/"
    private static let ownModules = [
        "CoreData", "CoreDataSQLite", "CoreDataSQL", "CoreDataValues", "CoreDataFoundation", "CoreDataCallSites",
        "CoreDataLog",
        "CoreDataMetrics", "CoreDataTracing", "CoreDataOperators",
    ]

    private static func site(of frame: SymbolicatedBacktrace.Frame) -> CallSite? {
        guard let symbol = frame.symbol, !frame.isSwiftThunk, !frame.isSwiftRuntimeFailure, !frame.isSystem else {
            return nil
        }
        let location = symbol.sourceLocation
        if let location,
            location.path.hasPrefix(ownSources) || isGenerated(location.path) || location.line == 0
                || location.path.contains("<compiler-generated>")
        {
            return nil
        }
        if location == nil, !isProgram(symbol.rawName, image: symbol.imageName) { return nil }
        return CallSite(file: location?.path, line: location?.line ?? 0, function: symbol.name)
    }

    /// Whether accessors stand there that were made of a model: who calls them is who is asked for.
    private static func isGenerated(_ path: String) -> Bool {
        path.hasSuffix("+CoreDataClasses.swift") || path.hasSuffix("+CoreDataProperties.swift")
    }

    /// Judged by the mangled name: a Swift function of another module than these and those of Swift.
    private static func isProgram(_ name: String, image: String) -> Bool {
        guard name.hasPrefix("$s"), !image.hasPrefix("libswift"), !image.hasPrefix("libFoundation"),
            !image.hasPrefix("lib_")
        else {
            return false
        }
        let mangled = name.dropFirst(2)
        let digits = mangled.prefix { $0.isNumber }
        guard let count = Int(digits), count > 0 else { return false }
        return !ownModules.contains(String(mangled.dropFirst(digits.count).prefix(count)))
    }
}

extension Backtrace {
    fileprivate var addresses: [UInt64] { frames.compactMap(\.address) }
}

extension Backtrace.Frame {
    /// nil where frames were left out.
    fileprivate var address: UInt64? {
        switch self {
        case .programCounter(let address), .returnAddress(let address), .asyncResumePoint(let address): UInt64(address)
        case .omittedFrames, .truncated: nil
        @unknown default: nil
        }
    }
}
