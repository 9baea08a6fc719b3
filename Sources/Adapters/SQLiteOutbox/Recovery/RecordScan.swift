import Glibc
import LinuxPlatform

/// Finds records in a file by their form and checksum alone: no header, no tree, no page has to be right.
///
/// A row lies in one piece within a page, in a database as in a write-ahead log, and begins with (size of the payload,
/// row id, record header: its size, 0 for the id, type of the blob); see sqlite.org/fileformat2.html §1.6 and §2.1.
/// Every byte of the file is tried as such a beginning; the checksum decides.
enum RecordScan {
    enum Found {
        case update(UpdateRecord, bytes: [UInt8])
        case ledger(LedgerRecord)
        case quarantined(QuarantinedUpdate, bytes: [UInt8])
    }

    /// Longer than any row with what precedes it.
    private static let longestRow = 1100
    private static let chunkCount = 64 * 1024
    /// What is passed over where a sector is bad: a page of memory, which is what the kernel reads at once.
    private static let blockCount = 4096
    /// Bad blocks after which reading a file stops: each may cost a failing disk seconds.
    private static let unreadableLimit = 16

    /// Calls `visit` for each record in the file at `path`, in the order of the file; a missing file has none.
    ///
    /// A bad sector is passed over; after many of them the rest of the file is skipped, as is all beyond `limit`.
    /// Holes are not read: whatever length a file has, it costs no more than the bytes that it was given.
    static func scan(
        path: String, on disk: any StoreDisk, upTo limit: Int64 = .max, _ visit: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        let size = min(limit, try withSystem(path, disk.fileSize(at: path)))
        var window: [UInt8] = []
        var (offset, unreadable) = (Int64(0), 0)
        while offset < size {
            let written = try withSystem(path, disk.nextWritten(from: offset, of: path))
            let next = min(size, written ?? size)
            if next > offset {
                // A row may end in zeros; none is longer than these.
                window += repeatElement(0, count: Int(min(next - offset, Int64(longestRow))))
                offset = next
            } else {
                window += try chunk(of: path, at: offset, on: disk, &unreadable)
                offset += Int64(chunkCount)
            }
            // Rows that begin in the tail may be cut off: they are tried again with what follows.
            let end = offset >= size ? window.count : max(0, window.count - longestRow)
            try scan(window, until: end, visit)
            window.removeFirst(end)
            if unreadable > unreadableLimit { return }
        }
    }

    /// The next bytes of the file, zeros for what a bad sector holds.
    private static func chunk(
        of path: String, at offset: Int64, on disk: any StoreDisk, _ unreadable: inout Int
    ) throws(StoreError) -> [UInt8] {
        do throws(SystemError) { return try disk.read(chunkCount, at: offset, of: path) } catch {
            guard error.number == EIO else { throw StoreError(error, path: path) }
        }
        var bytes: [UInt8] = []
        for block in stride(from: offset, to: offset + Int64(chunkCount), by: Int64.Stride(blockCount)) {
            do throws(SystemError) { bytes += try disk.read(blockCount, at: block, of: path) } catch {
                guard error.number == EIO else { throw StoreError(error, path: path) }
                bytes += repeatElement(0, count: blockCount)
                unreadable += 1
                if unreadable > unreadableLimit { return bytes }
            }
        }
        return bytes
    }

    private static func scan(
        _ bytes: [UInt8], until end: Int, _ visit: (Found) throws(StoreError) -> Void
    ) throws(StoreError) {
        var position = 0
        while true {
            position = nextPossible(in: bytes, from: position, until: end)
            guard position < end else { return }
            guard let row = row(in: bytes, at: position),
                let found = record(bytes[row.body], id: row.id)
            else {
                position += 1
                continue
            }
            try visit(found)
            position = row.body.upperBound
        }
    }

    /// The next place where a row may begin, or `end`: most are ruled out quickly, since a payload has 8 bytes or more
    /// and fewer than 1024, and the record header follows the id. On raw memory, for a store has many bytes.
    private static func nextPossible(in bytes: [UInt8], from start: Int, until end: Int) -> Int {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return end }
            let count = buffer.count
            var position = start
            while position < end {
                let first = unsafe base[position]
                if first >= 8, first < 0x88 {
                    var next = position + (first < 0x80 ? 1 : 2)
                    let longest = min(count, next + 8)
                    while next < longest, unsafe base[next] >= 0x80 { next += 1 }
                    if next + 2 < count, unsafe base[next + 2] == 0 {
                        let header = unsafe base[next + 1]
                        if header == 3 || header == 4 { return position }
                    }
                }
                position += 1
            }
            return end
        }
    }

    /// What would be a row if it began at `position`.
    private static func row(in bytes: [UInt8], at position: Int) -> (id: Int64, body: Range<Int>)? {
        var next = position
        guard let payload = varint(in: bytes, &next), payload >= 8, payload <= 1000,
            let id = varint(in: bytes, &next), id >= 0
        else { return nil }
        let header = next
        guard header + 4 < bytes.count, bytes[header] == 3 || bytes[header] == 4, bytes[header + 1] == 0 else {
            return nil
        }
        next += 2
        guard let type = varint(in: bytes, &next), type >= 12, type % 2 == 0, next == header + Int(bytes[header]) else {
            return nil
        }
        let count = Int(type - 12) / 2
        guard Int(payload) == Int(bytes[header]) + count, next + count <= bytes.count else { return nil }
        return (id, next..<next + count)
    }

    /// SQLite's integer: seven bits a byte, highest first; a ninth byte holds eight.
    private static func varint(in bytes: [UInt8], _ position: inout Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { break }
        }
        return Int64(bitPattern: value)
    }

    private static func record(_ body: ArraySlice<UInt8>, id: Int64) -> Found? {
        guard let first = body.first, let kind = SealedRecord.Kind(rawValue: first) else { return nil }
        return switch kind {
        case .update: UpdateRecord(body, sequence: id).map { .update($0, bytes: Array(body)) }
        case .ledger: id == LedgerRecord.id ? LedgerRecord(body).map { .ledger($0) } : nil
        case .quarantined: QuarantinedUpdate(body, sequence: id).map { .quarantined($0, bytes: Array(body)) }
        }
    }
}
