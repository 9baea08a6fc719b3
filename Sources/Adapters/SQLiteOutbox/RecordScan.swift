import LinuxPlatform
import LocationReporting

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

    /// Calls `visit` for each record in the file at `path`, in the order of the file; a missing file has none.
    ///
    /// What cannot be read (a bad sector) ends the scan of that file; `visit` has got what came before.
    static func scan(path: String, _ visit: (Found) throws(StoreError) -> Void) throws(StoreError) {
        let file: OwnedDescriptor
        do {
            guard try FileSystem.fileSize(at: path) > 0 else { return }
            file = try OwnedDescriptor(opening: path, 0)  // O_RDONLY
        } catch { throw StoreError(error, path: path) }
        var window: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkCount)
        while true {
            var count = 0
            do {
                var span = chunk.mutableSpan
                count = try file.read(into: &span)
            } catch { count = 0 }
            window += chunk[..<count]
            // Rows that begin in the tail may be cut off: they are tried again with what follows.
            let end = count == 0 ? window.count : max(0, window.count - longestRow)
            try scan(window, until: end, visit)
            if count == 0 { return }
            window.removeFirst(end)
        }
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
        case .firstLedger, .ledger: id == LedgerRecord.id ? LedgerRecord(body).map { .ledger($0) } : nil
        case .quarantined: QuarantinedUpdate(body, sequence: id).map { .quarantined($0, bytes: Array(body)) }
        }
    }
}
