// swift-metrics in the text form that Prometheus reads: counters, and for everything that is measured its count and its sum.

import Foundation
import Metrics
import Synchronization

/// A backend that keeps what it is told in memory. A program with a Prometheus client of its own bootstraps that instead.
final class MetricsText: MetricsFactory {
    private let series = Mutex<[String: Series]>([:])

    /// One line for each counter, two for each measure, in the order of their names.
    var text: String {
        let lines = series.withLock { $0.values.sorted { ($0.name, $0.labels) < ($1.name, $1.labels) } }.flatMap(
            \.lines)
        return lines.joined(separator: "\n") + "\n"
    }

    /// Handlers are asked for at each request, so that nothing but the key is made then.
    private func series(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
        var key = label
        for (name, value) in dimensions { key += "\u{0}\(name)\u{0}\(value)" }
        if let known = series.withLock({ $0[key] }) { return known }
        let labels = dimensions.map { "\(Self.name($0.0))=\"\($0.1)\"" }.joined(separator: ",")
        let new = Series(name: Self.name(label), labels: labels.isEmpty ? "" : "{\(labels)}", kind: kind)
        return series.withLock { all in
            if let known = all[key] { return known }
            all[key] = new
            return new
        }
    }

    /// Letters, digits and underscores.
    private static func name(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }
    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .seconds)
    }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, .measure)
    }

    // What was counted stays, whoever counted it.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}

/// One metric with one set of dimensions.
private final class Series: CounterHandler, MeterHandler, TimerHandler, RecorderHandler {
    enum Kind: Sendable { case counter, gauge, seconds, measure }

    let name: String
    let labels: String
    private let kind: Kind
    private let state = Mutex((count: 0, sum: 0.0))

    init(name: String, labels: String, kind: Kind) {
        self.name = name
        self.labels = labels
        self.kind = kind
    }

    var lines: [String] {
        let (count, sum) = state.withLock { $0 }
        switch kind {
        case .counter: return ["\(name)_total\(labels) \(Int(sum))"]
        case .gauge: return ["\(name)\(labels) \(sum)"]
        case .seconds: return ["\(name)_seconds_count\(labels) \(count)", "\(name)_seconds_sum\(labels) \(sum)"]
        case .measure: return ["\(name)_count\(labels) \(count)", "\(name)_sum\(labels) \(sum)"]
        }
    }

    private func add(_ value: Double) { state.withLock { $0 = ($0.count + 1, $0.sum + value) } }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.sum = value } }
    func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1e9) }
    func record(_ value: Int64) { add(Double(value)) }
    func record(_ value: Double) { add(value) }
    func reset() { state.withLock { $0 = (0, 0) } }
}
