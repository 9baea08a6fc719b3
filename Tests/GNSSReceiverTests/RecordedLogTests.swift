import FoundationEssentials
import Glibc
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite struct RecordedLogs {
    private let directory: TemporaryDirectory

    private let stop: EventDescriptor

    init() throws { (directory, stop) = (try TemporaryDirectory(), try EventDescriptor()) }

    /// Returns the content of a log, read in steps of `step` bytes, and the error that ended the reading early.
    private func contents(of path: String, step: Int = 1000) -> (bytes: [UInt8], error: FixSourceError?) {
        var bytes: [UInt8] = []
        do throws(FixSourceError) {
            let log = try RecordedLog(path: path, stop: stop)
            var buffer = [UInt8](repeating: 0, count: step)
            while true {
                var span = buffer.mutableSpan
                let count = try log.read(into: &span)
                if count == 0 { return (bytes, nil) }
                bytes += buffer[..<count]
            }
        } catch {
            return (bytes, error)
        }
    }

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try GNSSReceiverTests.gzip(bytes, in: directory) }

    /// Content that fills several buffers and doesn't repeat.
    private static let text = Array((0..<6000).map { "$GPGLL,\($0),N\r\n" }.joined().utf8)

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func areReadUnchanged(step: Int) throws {
        let read = contents(of: try directory.write(Self.text, to: "plain.nmea"), step: step)
        #expect(read.bytes == Self.text)
        #expect(read.error == nil)
    }

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func areDecompressedMemberByMember(step: Int) throws {
        let archive = try gzip(Array(Self.text[..<1000])) + gzip(Array(Self.text[1000...])) + [0, 0, 0, 0]
        let read = contents(of: try directory.write(archive, to: "log.gz"), step: step)
        #expect(read.bytes == Self.text)
        #expect(read.error == nil)
    }

    @Test func returnTheBytesOfAnArchiveThatIsCutShort() throws {
        let archive = try gzip(Self.text)
        let read = contents(of: try directory.write(archive[..<(archive.count / 2)], to: "cut.gz"))
        #expect(read.bytes.count > 1000 && Self.text.starts(with: read.bytes))
        #expect(read.error?.code == .notALog)
        #expect(read.error?.fault == .archiveCutShort)
    }

    @Test func returnTheBytesBeforeDamage() throws {
        var archive = try gzip(Self.text)
        for index in archive.indices.suffix(8) { archive[index] ^= 0xFF }  // checksum and length
        let read = contents(of: try directory.write(archive, to: "bad.gz"))
        #expect(Self.text.starts(with: read.bytes))
        #expect(isDamage(read.error))
    }

    /// The bytes before the damage aren't lost, whatever the size of the reads.
    @Test(arguments: [1000, 1 << 20])
    func returnTheBytesBeforeDamageInTheMiddle(step: Int) throws {
        var archive = try gzip(Self.text)
        for index in archive.count / 2..<archive.count / 2 + 8 { archive[index] ^= 0xFF }
        let read = contents(of: try directory.write(archive, to: "bad.gz"), step: step)
        #expect(read.bytes.count > 1000)
        #expect(read.bytes.prefix(1000) == Self.text.prefix(1000))
        #expect(isDamage(read.error))
    }

    @Test(arguments: [7, 1 << 20])
    func reportBytesAfterAnArchive(step: Int) throws {
        let archive = try gzip(Self.text)
        let read = contents(of: try directory.write(archive + Array("garbage".utf8), to: "tail.gz"), step: step)
        #expect(read.bytes == Self.text)
        #expect(read.error?.fault == .archiveFollowedByOtherData(at: Int64(archive.count)))
        let cut = contents(of: try directory.write(archive + [0x1F, 0x8B, 8], to: "two.gz"), step: step)
        #expect(cut.bytes == Self.text)
        #expect(cut.error?.fault == .archiveCutShort)
    }

    @Test func mustNotBeTheZeroOrNullDevice() {
        #expect(contents(of: "/dev/zero").error?.fault == .zeroDevice)
        #expect(contents(of: "/dev/null").error?.fault == .empty)
    }

    /// A disk that wasn't synchronised in time leaves zeros; the bytes around them are used.
    @Test func mayContainZeros() throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 17)
        let read = contents(of: try directory.write(zeros + Self.text, to: "zeros.nmea"))
        #expect(read.error == nil)
        #expect(read.bytes.count == zeros.count + Self.text.count)
    }

    @Test func areReadAfterTheirFileIsRemoved() throws {
        let path = try directory.write(Self.text, to: "gone.nmea")
        let log = try RecordedLog(path: path, stop: stop)
        unsafe unlink(path)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var span = buffer.mutableSpan
        #expect(try log.read(into: &span) > 0)
    }

    @Test func reportHowFarTheFileHasBeenRead() throws {
        let archive = try gzip(Self.text)
        let log = try RecordedLog(path: try directory.write(archive, to: "log.gz"), stop: stop)
        #expect(log.totalBytes == Int64(archive.count))
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var span = buffer.mutableSpan
        _ = try log.read(into: &span)
        #expect(log.bytesRead == Int64(archive.count))
    }

    private func isDamage(_ error: FixSourceError?) -> Bool {
        if case .archiveDamaged = error?.fault { true } else { false }
    }

    @Test(
        arguments: [
            ([], .empty),
            (
                Array("\u{FEFF}$GPGLL,1".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
                .utf16(encoding: "UTF-16")
            ),
            (
                Array("\u{FEFF}$GPGLL,1".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
                .utf16(encoding: "UTF-16")
            ),
            (Array("$GPGLL,1,2,3,4".utf8).flatMap { [$0, 0] }, .utf16(encoding: "UTF-16LE")),
            (Array("$GPGLL,1,2,3,4".utf8).flatMap { [0, $0] }, .utf16(encoding: "UTF-16BE")),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .compressed(with: "xz", command: "xz -d")),
            ([0x50, 0x4B, 0x03, 0x04], .compressed(with: "zip", command: "unzip")),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .compressed(with: "7-Zip", command: "7z x")),
            (Array("Rar!\u{1A}".utf8), .compressed(with: "RAR", command: "unrar x")),
        ] as [([UInt8], LogFault)])
    func areRejectedWithTheReason(bytes: [UInt8], fault: LogFault) throws {
        let path = try directory.write(bytes, to: "bad.nmea")
        #expect(contents(of: path).error == FixSourceError(log: path, fault))
    }

    @Test func areAlsoCheckedInsideAnArchive() throws {
        let empty = contents(of: try directory.write(try gzip([]), to: "empty.gz"))
        #expect(empty.error?.fault == .archiveWithoutContents)
        let wide = contents(of: try directory.write(try gzip([0xFF, 0xFE, 0x24, 0]), to: "wide.gz"))
        #expect(wide.error?.fault == .utf16(encoding: "UTF-16"))
        let twice = contents(of: try directory.write(try gzip(try gzip(Self.text)), to: "twice.gz"))
        #expect(twice.error?.fault == .compressedTwice)
    }

    @Test func mustExistAndNotBeDirectories() throws {
        #expect(contents(of: directory.url.path).error?.fault == .directory)
        let missing = contents(of: directory.path("none.nmea")).error
        #expect(missing == FixSourceError(log: directory.path("none.nmea"), .notOpened(.missing)))
        #expect(missing?.code == .cannotOpen)
        #expect(contents(of: directory.path("*.nmea")).error?.fault == .notOpened(.pattern))
        #expect(contents(of: "https://example.com/a.nmea").error?.fault == .notOpened(.url))
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func mustBeReadable() throws {
        let path = try directory.write(Self.text, to: "closed.nmea")
        unsafe chmod(path, 0)
        #expect(contents(of: path).error?.fault == .notOpened(.forbidden(closedDirectory: nil)))
    }
}
