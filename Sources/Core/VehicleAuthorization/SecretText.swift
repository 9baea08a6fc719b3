/// The text of a secret, kept outside Swift's strings so that it can be overwritten when its last owner releases it.
///
/// The class is Sendable because the bytes are written only in `init` and `deinit`. docs/authorization.md describes the
/// limits of this protection.
@safe final class SecretText: @unchecked Sendable, Hashable {
    let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ text: String) {
        unsafe bytes = .allocate(capacity: text.utf8.count)
        _ = unsafe bytes.initialize(fromContentsOf: Array(text.utf8))
    }

    deinit {
        unsafe Self.overwrite(bytes)
        unsafe bytes.deallocate()
    }

    /// A copy of the text for immediate use. The copy isn't overwritten.
    var text: String { unsafe String(decoding: bytes, as: UTF8.self) }

    /// The number of UTF-8 bytes.
    var count: Int { unsafe bytes.count }

    static func == (one: SecretText, other: SecretText) -> Bool {
        unsafe one === other || one.bytes.elementsEqual(other.bytes)
    }

    func hash(into hasher: inout Hasher) { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }

    /// Overwrites `bytes` with zeros. The zeros aren't optimised away, because the compiler can't see into the
    /// allocator that frees the memory.
    private static func overwrite(_ bytes: UnsafeMutableBufferPointer<UInt8>) { unsafe bytes.update(repeating: 0) }
}
