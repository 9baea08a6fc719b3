/// The order in which people count: `van-2` before `van-10`.
enum NaturalOrder {
    /// Whether `one` stands before `other`: numbers by their value, everything else by its bytes.
    static func isBefore(_ one: String, _ other: String) -> Bool {
        var (left, right) = (Array(one.utf8)[...], Array(other.utf8)[...])
        while let first = left.first, let second = right.first {
            if isDigit(first), isDigit(second) {
                let (number, otherNumber) = (takeNumber(from: &left), takeNumber(from: &right))
                if number.count != otherNumber.count { return number.count < otherNumber.count }
                if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) }
            } else if first == second {
                left.removeFirst()
                right.removeFirst()
            } else {
                return first < second
            }
        }
        if left.isEmpty, right.isEmpty { return one < other }  // as van-07 and van-7
        return left.isEmpty
    }

    /// The digits at the beginning, without leading zeros: of two numbers the one with more digits is larger.
    private static func takeNumber(from bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = bytes.prefix(while: isDigit)
        bytes = bytes.dropFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
