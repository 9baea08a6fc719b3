/// How much is logged; each level includes those before it.
package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case error, warning, info, debug

    package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
