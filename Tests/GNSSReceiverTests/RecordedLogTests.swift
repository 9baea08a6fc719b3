import FoundationEssentials
import Glibc
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@testable import GNSSReceiver

@Suite struct RecordedLogs {
    private let folder: TemporaryFolder

    private let stop: EventDescriptor

    init() throws { (folder, stop) = (try TemporaryFolder(), try EventDescriptor()) }

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

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try GNSSReceiverTests.gzip(bytes, in: folder) }

    /// Content of several buffers' length that doesn't repeat.
    private static let text = Array((0..<6000).map { "$GPGLL,\($0),N\r\n" }.joined().utf8)

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func areReadUnchanged(step: Int) throws {
        let read = contents(of: try folder.write(Self.text, to: "plain.nmea"), step: step)
        #expect(read.bytes == Self.text)
        #expect(read.error == nil)
    }

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func areUnpackedMemberByMember(step: Int) throws {
        let archive = try gzip(Array(Self.text[..<1000])) + gzip(Array(Self.text[1000...])) + [0, 0, 0, 0]
        let read = contents(of: try folder.write(archive, to: "log.gz"), step: step)
        #expect(read.bytes == Self.text)
        #expect(read.error == nil)
    }

    @Test func returnTheBytesBeforeACut() throws {
        let archive = try gzip(Self.text)
        let read = contents(of: try folder.write(archive[..<(archive.count / 2)], to: "cut.gz"))
        #expect(read.bytes.count > 1000 && Self.text.starts(with: read.bytes))
        #expect(read.error?.code == .notALog)
        #expect(read.error?.text.contains("cut.gz ends in the middle of the archive") == true)
    }

    @Test func returnTheBytesBeforeDamage() throws {
        var archive = try gzip(Self.text)
        for index in archive.indices.suffix(8) { archive[index] ^= 0xFF }  // checksum and length
        let read = contents(of: try folder.write(archive, to: "bad.gz"))
        #expect(Self.text.starts(with: read.bytes))
        #expect(read.error?.text.contains("bad.gz is a damaged archive (incorrect data check)") == true)
    }

    /// With any step, the bytes before the damage aren't lost.
    @Test(arguments: [1000, 1 << 20])
    func returnTheBytesBeforeDamageInTheMiddle(step: Int) throws {
        var archive = try gzip(Self.text)
        for index in archive.count / 2..<archive.count / 2 + 8 { archive[index] ^= 0xFF }
        let read = contents(of: try folder.write(archive, to: "bad.gz"), step: step)
        #expect(read.bytes.count > 1000)
        #expect(read.bytes.prefix(1000) == Self.text.prefix(1000))
        #expect(read.error?.text.contains("bad.gz is a damaged archive") == true)
    }

    @Test(arguments: [7, 1 << 20])
    func reportBytesAfterAnArchive(step: Int) throws {
        let archive = try gzip(Self.text)
        let read = contents(of: try folder.write(archive + Array("garbage".utf8), to: "tail.gz"), step: step)
        #expect(read.bytes == Self.text)
        #expect(
            read.error?.text.hasSuffix(
                "tail.gz is an archive with something else after its end, from byte \(archive.count) on; everything "
                    + "before was read") == true)
        let cut = contents(of: try folder.write(archive + [0x1F, 0x8B, 8], to: "two.gz"), step: step)
        #expect(cut.bytes == Self.text)
        #expect(cut.error?.text.contains("ends in the middle of the archive") == true)
    }

    @Test func mayNotBeADeviceOfZeros() {
        #expect(contents(of: "/dev/zero").error?.text.contains("is a device that gives only zeros") == true)
        #expect(contents(of: "/dev/null").error?.text.contains("is empty") == true)
    }

    /// A disk that wasn't synchronised in time leaves zeros; the bytes around them count.
    @Test func mayContainZeros() throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 17)
        let read = contents(of: try folder.write(zeros + Self.text, to: "zeros.nmea"))
        #expect(read.error == nil)
        #expect(read.bytes.count == zeros.count + Self.text.count)
    }

    @Test func areReadAfterTheirFileIsRemoved() throws {
        let path = try folder.write(Self.text, to: "gone.nmea")
        let log = try RecordedLog(path: path, stop: stop)
        unsafe unlink(path)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var span = buffer.mutableSpan
        #expect(try log.read(into: &span) > 0)
    }

    @Test func reportHowFarTheFileHasBeenRead() throws {
        let archive = try gzip(Self.text)
        let log = try RecordedLog(path: try folder.write(archive, to: "log.gz"), stop: stop)
        #expect(log.totalBytes == Int64(archive.count))
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var span = buffer.mutableSpan
        _ = try log.read(into: &span)
        #expect(log.bytesRead == Int64(archive.count))
    }

    @Test(
        arguments: [
            ([], FixSourceError.Code.notALog, "is empty; it should"),
            (
                Array("\u{FEFF}$GPGLL,1".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, .notALog,
                "is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8"
            ),
            (
                Array("\u{FEFF}$GPGLL,1".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, .notALog,
                "iconv -f UTF-16 -t UTF-8"
            ),
            (Array("$GPGLL,1,2,3,4".utf8).flatMap { [$0, 0] }, .notALog, "iconv -f UTF-16LE -t UTF-8"),
            (Array("$GPGLL,1,2,3,4".utf8).flatMap { [0, $0] }, .notALog, "iconv -f UTF-16BE -t UTF-8"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .notALog, "is packed with xz; unpack it first (xz -d)"),
            ([0x50, 0x4B, 0x03, 0x04], .notALog, "is packed with zip"),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .notALog, "is packed with 7-Zip; unpack it first (7z x)"),
            (Array("Rar!\u{1A}".utf8), .notALog, "is packed with RAR; unpack it first (unrar x)"),
        ] as [([UInt8], FixSourceError.Code, String)])
    func areRejectedWithTheRemedy(bytes: [UInt8], code: FixSourceError.Code, words: String) throws {
        let path = try folder.write(bytes, to: "bad.nmea")
        let error = contents(of: path).error
        #expect(error?.code == code)
        #expect(
            error?.text.hasPrefix(path) == true && error?.text.contains(words) == true,
            "\(String(describing: error))")
    }

    @Test func areCheckedInsideAnArchiveToo() throws {
        let empty = contents(of: try folder.write(try gzip([]), to: "empty.gz"))
        #expect(empty.error?.text.contains("holds nothing") == true)
        let wide = contents(of: try folder.write(try gzip([0xFF, 0xFE, 0x24, 0]), to: "wide.gz"))
        #expect(wide.error?.text.contains("is UTF-16 text") == true)
        let twice = contents(of: try folder.write(try gzip(try gzip(Self.text)), to: "twice.gz"))
        #expect(twice.error?.text.contains("is packed twice") == true)
    }

    @Test func mustExistAndNotBeFolders() throws {
        #expect(contents(of: folder.url.path).error?.text.contains("is a folder; name the logs in it") == true)
        let missing = contents(of: folder.path("none.nmea")).error
        #expect(missing?.code == .cannotOpen)
        #expect(missing?.text.contains("none.nmea does not exist; check the path") == true)
        let pattern = contents(of: folder.path("*.nmea")).error
        #expect(pattern?.text.hasSuffix("; without quotes the shell finds the files that it means") == true)
        let address = contents(of: "https://example.com/a.nmea").error
        #expect(address?.text == "https://example.com/a.nmea is no file; fetch it first, and name where it lies then")
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func mustBeReadable() throws {
        let path = try folder.write(Self.text, to: "closed.nmea")
        unsafe chmod(path, 0)
        #expect(contents(of: path).error?.text.contains("may not be read by this user") == true)
    }
}
