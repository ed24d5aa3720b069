// Decimal numbers in keyed archives.

import Foundation

/// How decimal numbers stand in archives: sign, exponent, and the digits as eight words of sixteen bits.
package enum DecimalArchive {
    package static let classes = ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue"]

    package static func entries(_ number: Decimal) -> [String: ArchiveNode] {
        var words = [UInt16](repeating: 0, count: 8)
        for digit in number.isNaN ? "" : number.significand.magnitude.description where digit.isNumber {
            var carry = UInt32(digit.wholeNumberValue ?? 0)
            for place in words.indices {
                let sum = UInt32(words[place]) * 10 + carry
                words[place] = UInt16(truncatingIfNeeded: sum)
                carry = sum >> 16
            }
        }
        let length = (words.lastIndex { $0 != 0 } ?? -1) + 1
        let bytes = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        return [
            "NS.mantissa": .data(Data(bytes)), "NS.mantissa.bo": .integer(1), "NS.compact": .bool(true),
            "NS.exponent": .integer(Int64(number.exponent)), "NS.length": .integer(Int64(length)),
            "NS.negative": .bool(number.isNaN || number.sign == .minus),
        ]
    }

    /// nil when the entries spell no number.
    package static func number(_ item: PropertyListItem) -> Decimal? {
        guard let data = item["NS.mantissa"]?.data, data.count == 16,
            let exponent = item["NS.exponent"]?.integer, (-128...127).contains(exponent),
            let length = item["NS.length"]?.integer, (0...8).contains(length)
        else { return nil }
        let isNegative = item["NS.negative"]?.bool == true
        if length == 0 { return isNegative ? Decimal.nan : 0 }
        let isBig = item["NS.mantissa.bo"]?.integer == 2
        let bytes = Array(data)
        var words = (0..<Int(length)).map { place -> UInt16 in
            let (a, b) = (UInt16(bytes[2 * place]), UInt16(bytes[2 * place + 1]))
            return isBig ? a << 8 | b : b << 8 | a
        }
        var digits = ""
        while words.contains(where: { $0 != 0 }) {
            var rest: UInt32 = 0
            for place in words.indices.reversed() {
                let part = rest << 16 | UInt32(words[place])
                words[place] = UInt16(part / 10)
                rest = part % 10
            }
            digits = String(rest) + digits
        }
        let text = (isNegative ? "-" : "") + (digits.isEmpty ? "0" : digits) + "e\(exponent)"
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}
