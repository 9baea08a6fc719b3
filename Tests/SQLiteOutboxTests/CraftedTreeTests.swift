import Reporting
import Testing

@testable import SQLiteOutbox

/// Pages that lead to the same page repeatedly (sqlite.org/fileformat2.html §1.6): each is sound, but together they
/// have more rows than could be counted in a lifetime.
@Suite(.timeLimit(.minutes(2))) struct CraftedTree {
    private static let levels = 12
    private let directory: StoreDirectory

    init() throws {
        directory = try StoreDirectory()
        try directory.buildBacklog(2000)
        var database = try directory.read("outbox.sqlite")
        let connection = try SQLiteConnection(path: directory.store, access: .immutable)
        let root = Int(try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'updates'") ?? 0)
        let rootPage = Array(database[Self.range(ofPage: root)])
        try #require(rootPage[0] == 5, "an interior page of a table")
        let first = Self.integer(rootPage, at: Self.cells(of: rootPage)[0])
        // Every cell of a page points to the next page, and each cell of the last page to the leaf with the first rows.
        let chain = [root] + (1..<Self.levels).map { database.count / 1024 - $0 } + [first]
        for (page, next) in zip(chain, chain.dropFirst()) {
            var bytes = rootPage
            for offset in Self.cells(of: rootPage) + [8] {
                for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: next >> (24 - 8 * byte)) }
            }
            database.replaceSubrange(Self.range(ofPage: page), with: bytes)
        }
        try directory.write(database, to: "outbox.sqlite")
    }

    private static func range(ofPage number: Int) -> Range<Int> { (number - 1) * 1024..<number * 1024 }

    private static func integer(_ bytes: [UInt8], at offset: Int, count: Int = 4) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the offsets of the cells of an interior page; each starts with the number of a page.
    private static func cells(of page: [UInt8]) -> [Int] {
        (0..<integer(page, at: 3, count: 2)).map { integer(page, at: 12 + 2 * $0, count: 2) }
    }

    @Test func isReportedAsDamageByAReader() throws {
        let reader = try OutboxReader(path: directory.store)
        let errors = [
            #expect(throws: OutboxError.self) { try reader.summary() },
            #expect(throws: OutboxError.self) { try reader.forEachPending { _ in } },
        ]
        for error in errors { #expect(error?.code == .damaged) }
    }

    @Test func isRepairedAtTheStart() throws {
        let outbox = try directory.open()
        #expect(directory.recoveries.count == 1)
        #expect(try outbox.ledger().balances)
        _ = try outbox.append(sample(1))
    }
}
