import Glibc
import LinuxPlatform
import Reporting

/// A search for rows in a file that doesn't rely on SQLite's structure, because the header, the tree or the pages may
/// be damaged. It recognises a row only by its format and checksum.
///
/// A row is stored without interruption in one page of a database or a write-ahead log. It begins with the size of its
/// payload, its sequence number, and a header that lists the type of each value (sqlite.org/fileformat2.html §1.6,
/// §2.1). Every byte of the file may be the beginning of a row. The checksum decides whether the byte is one.
enum RowScan {
    /// An upper limit for the size of a row in bytes, including its payload size and sequence number.
    private static let maximumRowBytes = 1100
    private static let chunkCount = 64 * 1024
    /// The number of bytes that are skipped because of a bad sector. It is the size of a memory page, because the
    /// kernel reads whole pages.
    private static let blockCount = 4096
    /// The number of bad blocks after which the rest of the file isn't read. Each of them may take a failing disk
    /// seconds.
    private static let unreadableLimit = 16
    /// The number of values in a row: the sequence number (stored as NULL), the columns, and the checksum.
    private static let valueCount = StoredRow.columnCount

    /// Calls `visit` for each row in the file at `path`, in the order in which they are stored. A missing file has no
    /// rows.
    ///
    /// Skips bad sectors, and everything after the first `limit` bytes. After many bad sectors, skips the rest of the
    /// file. Doesn't read ranges that were never written (holes), so the cost doesn't depend on the file's length.
    static func scan(
        path: String, on disk: any StoreDisk, upTo limit: Int64 = .max, _ visit: (StoredRow) throws(OutboxError) -> Void
    ) throws(OutboxError) {
        let size = min(limit, try withSystem(path, disk.fileSize(at: path)))
        var window: [UInt8] = []
        var offset: Int64 = 0
        var unreadable = 0
        while offset < size {
            let written = try withSystem(path, disk.nextDataOffset(from: offset, of: path))
            let next = min(size, written ?? size)
            if next > offset {
                // A row may end in the unwritten range, which reads as zeros. This many zeros are enough to complete
                // any row.
                window += repeatElement(0, count: Int(min(next - offset, Int64(maximumRowBytes))))
                offset = next
            } else {
                window += try chunk(of: path, at: offset, on: disk, unreadableCount: &unreadable)
                offset += Int64(chunkCount)
            }
            // A row that begins near the end of `window` may be cut off there. So these bytes are searched again,
            // together with the next ones.
            let end = offset >= size ? window.count : max(0, window.count - maximumRowBytes)
            try scan(window, until: end, visit)
            window.removeFirst(end)
            if unreadable > unreadableLimit { return }
        }
    }

    /// Returns the next bytes of the file, with zeros in place of bad sectors.
    private static func chunk(
        of path: String, at offset: Int64, on disk: any StoreDisk, unreadableCount unreadable: inout Int
    ) throws(OutboxError) -> [UInt8] {
        do throws(SystemError) { return try disk.read(chunkCount, at: offset, of: path) } catch {
            guard error.number == EIO else { throw OutboxError(error, path: path) }
        }
        var bytes: [UInt8] = []
        for block in stride(from: offset, to: offset + Int64(chunkCount), by: Int64.Stride(blockCount)) {
            do throws(SystemError) { bytes += try disk.read(blockCount, at: block, of: path) } catch {
                guard error.number == EIO else { throw OutboxError(error, path: path) }
                bytes += repeatElement(0, count: blockCount)
                unreadable += 1
                if unreadable > unreadableLimit { return bytes }
            }
        }
        return bytes
    }

    private static func scan(
        _ bytes: [UInt8], until end: Int, _ visit: (StoredRow) throws(OutboxError) -> Void
    ) throws(OutboxError) {
        var position = nextCandidate(in: bytes, from: 0, until: end)
        while position < end {
            if let found = row(in: bytes, at: position) {
                try visit(found.row)
                position = found.end
            } else {
                position += 1
            }
            position = nextCandidate(in: bytes, from: position, until: end)
        }
    }

    /// Returns the next position at which a row may begin, or `end` if there is none. Rules out most positions quickly:
    /// a payload has fewer than 1024 bytes, and the sequence number is followed by the header's size and a NULL. Uses
    /// an unsafe buffer for speed, because a store has many bytes.
    private static func nextCandidate(in bytes: [UInt8], from start: Int, until end: Int) -> Int {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return end }
            let count = buffer.count
            var position = start
            while position < end {
                let first = unsafe base[position]
                if first > valueCount, first < 0x88 {
                    var next = position + (first < 0x80 ? 1 : 2)
                    let longest = min(count, next + 8)
                    while next < longest, unsafe base[next] >= 0x80 { next += 1 }
                    if next + 2 < count, unsafe base[next + 2] == 0 {
                        let header = unsafe Int(base[next + 1]) - valueCount
                        if header == 1 || header == 2 { return position }
                    }
                }
                position += 1
            }
            return end
        }
    }

    /// Returns the row that begins at `position`, and the position where it ends. Returns `nil` if no row begins there.
    private static func row(in bytes: [UInt8], at position: Int) -> (row: StoredRow, end: Int)? {
        var next = position
        guard let payload = varint(in: bytes, &next), payload <= maximumRowBytes,
            let sequence = varint(in: bytes, &next),
            sequence >= 0
        else { return nil }
        let end = next + Int(payload)
        guard payload > valueCount, end <= bytes.count else { return nil }
        // The header contains its own size and the type of each value. The first type is that of the sequence number,
        // NULL.
        let body = next + Int(bytes[next])
        guard body < end else { return nil }
        var type = next + 2
        var position = body
        let row = StoredRow(sequence) { _ in
            guard type < body, let code = varint(in: bytes, &type) else { return nil }
            return value(of: code, in: bytes, &position, until: end)
        }
        guard let row, type == body, position == end else { return nil }
        return (row, end)
    }

    /// The sizes in bytes of values of the types 0 to 9. Type 7, a floating-point number, isn't used in any column.
    private static let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

    private static func value(
        of type: Int64, in bytes: [UInt8], _ position: inout Int, until end: Int
    ) -> StoredValue? {
        guard (0..<10).contains(type) && type != 7 || (type >= 13 && type % 2 == 1) else { return nil }
        let size = type < 10 ? sizes[Int(type)] : Int(type - 13) / 2
        guard size <= end - position else { return nil }
        let start = position
        position += size
        switch type {
        case 0: return .null
        case 1...6:
            // The number is big-endian, and its sign is in the first byte.
            var number = Int64(Int8(bitPattern: bytes[start]))
            for index in start + 1..<position { number = number << 8 | Int64(bytes[index]) }
            return .integer(number)
        case 8, 9: return .integer(type - 8)
        default: return .text(Array(bytes[start..<position]))
        }
    }

    /// Reads an SQLite integer of variable length. Each byte contains seven bits, the most significant first; a ninth
    /// byte contains eight. Returns `nil` if the bytes end first.
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
}
