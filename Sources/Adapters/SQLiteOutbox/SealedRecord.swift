/// The common form of everything stored: a kind with its version, a checksum, the payload.
///
/// The checksum is a CRC-32 over kind, row id and payload, so that a record proves itself wherever it is found: on a
/// page without a tree, in an old write-ahead log, under the wrong id.
enum SealedRecord {
    /// High digit: what it is; low digit: version of its format.
    enum Kind: UInt8, Sendable {
        case update = 0x11
        /// Of schema version 1.
        case firstLedger = 0x21
        case ledger = 0x22
        case quarantined = 0x31
    }

    private static let headerCount = 5

    static func seal(_ kind: Kind, id: Int64, payload: [UInt8]) -> [UInt8] {
        let checksum = checksum(kind, id: id, payload: payload[...])
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerCount + payload.count)
        bytes.append(kind.rawValue)
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: checksum >> shift))
        }
        bytes += payload
        return bytes
    }

    /// Kind and payload; `nil` when the checksum does not agree.
    static func open(_ bytes: ArraySlice<UInt8>, id: Int64) -> (kind: Kind, payload: RecordReader)? {
        guard bytes.count >= headerCount, let kind = Kind(rawValue: bytes[bytes.startIndex]) else { return nil }
        var stated: UInt32 = 0
        for offset in 0..<4 { stated |= UInt32(bytes[bytes.startIndex + 1 + offset]) << UInt32(8 * offset) }
        let payload = bytes[(bytes.startIndex + headerCount)...]
        guard checksum(kind, id: id, payload: payload) == stated else { return nil }
        return (kind, RecordReader(payload))
    }

    private static func checksum(_ kind: Kind, id: Int64, payload: ArraySlice<UInt8>) -> UInt32 {
        var checksum = CRC32()
        checksum.update(kind.rawValue)
        for shift in stride(from: Int64(0), to: 64, by: 8) {
            checksum.update(UInt8(truncatingIfNeeded: id >> shift))
        }
        checksum.update(payload)
        return checksum.value
    }
}
