import FoundationEssentials
import ReportedText
import Reporting
import Testing

@testable import SQLiteOutbox

/// A file at the outbox's path that never was an outbox isn't changed.
@Suite struct UnrelatedFiles {
    struct File: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ description: String, _ bytes: some Sequence<UInt8>) {
            testDescription = description
            self.bytes = Array(bytes)
        }
    }

    /// Returns the first page of an SQLite database.
    private static func database(applicationID: [UInt8], pageSize: [UInt8] = [0x04, 0x00]) -> [UInt8] {
        var bytes = Array("SQLite format 3\0".utf8) + pageSize + [UInt8](repeating: 0, count: 1006)
        bytes.replaceSubrange(68..<72, with: applicationID)
        return bytes
    }

    static let unrelatedFiles = [
        File("a log of NMEA sentences", "$GPGGA,101530.25,5330.1234,N,00958.1234,E,1,08,1.0,10.0,M,,M,,*00\r\n".utf8),
        File("a log of NMEA sentences", Array("$GNRMC,1".utf8) + [0xb5, 0x62, 0, 0]),
        File("a log of UBX messages", [0xb5, 0x62, 0x01, 0x07, 92, 0]), File("a gzip file", [0x1f, 0x8b, 8, 0, 0, 0]),
        File("a zip file", [0x50, 0x4b, 3, 4, 20, 0]), File("a program", [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
        File("text", "t".utf8), File("text", "not a database".utf8),
        File("text", "{\n\t\"übersicht\": 1\r\n}".utf8), File("text", repeatElement(UInt8(ascii: " "), count: 5000)),
        File("a database of another program", database(applicationID: [0, 0, 0, 0])),
        File("a database of another program", database(applicationID: Array("GPKG".utf8), pageSize: [0x10, 0x00])),
    ]

    @Test(arguments: unrelatedFiles) func areRejectedAndLeftUnchanged(file: File) throws {
        let directory = try StoreDirectory()
        try directory.write(file.bytes, to: "outbox.sqlite")
        let expectedError = OutboxError(.refused, path: directory.store, .unrelated("\(file.testDescription)"))
        for _ in 1...2 {
            for error in [
                #expect(throws: OutboxError.self) { try directory.open() },
                #expect(throws: OutboxError.self) { try OutboxReader(path: directory.store) },
            ] {
                #expect(error == expectedError)
            }
        }
        #expect(directory.recoveries.isEmpty)
        #expect(try directory.names == ["outbox.sqlite"])
        #expect(try directory.read("outbox.sqlite") == file.bytes)
    }

    static let damagedFiles = [
        File("an empty file", []), File("an outbox's first byte", "S".utf8),
        File("an outbox's first bytes", "SQLite form".utf8),
        File("a header without its end", database(applicationID: [0, 0, 0, 0]).prefix(90)),
        File("zeros", repeatElement(0, count: 4096)), File("noise", [0x93, 0x01, 0xfe, 0x20, 0x00, 0x17]),
        File("a flipped bit of the application's number", database(applicationID: [0x57, 0x61, 0x71, 0x70])),
        File(
            "a flipped bit of the first word", [0x52] + database(applicationID: [0x57, 0x61, 0x79, 0x70]).dropFirst()),
    ]

    @Test(arguments: damagedFiles) func areDistinguishedFromDamage(file: File) throws {
        #expect(UnrelatedFile.kind(beginningWith: Array(file.bytes.prefix(UnrelatedFile.headerCount))) == nil)
        let directory = try StoreDirectory()
        try directory.write(file.bytes, to: "outbox.sqlite")
        _ = try directory.open().append(sample(1))
        #expect(directory.recoveries.count == 1)
    }

    /// The text was written over an outbox, and the service starts anyway.
    @Test(arguments: [".lock", ".reserve", ".rebuilt"]) func areDamageNextToFilesOfAnOutbox(suffix: String) throws {
        let directory = try StoreDirectory()
        try directory.write(Array("not a database".utf8), to: "outbox.sqlite")
        try directory.write([], to: "outbox.sqlite" + suffix)
        _ = try directory.open().append(sample(1))
        #expect(directory.recoveries.map(\.cause) == [.notSQLite])
    }
}
