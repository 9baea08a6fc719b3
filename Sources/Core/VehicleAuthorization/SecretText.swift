/// The text of a secret, kept outside Swift's strings so that it can be overwritten when its last owner releases it.
///
/// It is Sendable because the bytes are written in `init` and `deinit` only. docs/authorization.md says what this
/// protects and what it doesn't.
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

    /// A copy for immediate use, which is not overwritten.
    var text: String { unsafe String(decoding: bytes, as: UTF8.self) }

    /// The number of UTF-8 bytes.
    var count: Int { unsafe bytes.count }

    static func == (one: SecretText, other: SecretText) -> Bool {
        unsafe one === other || one.bytes.elementsEqual(other.bytes)
    }

    func hash(into hasher: inout Hasher) { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }

    /// The memory is freed by an allocator that the compiler can't see into, so the zeros aren't optimized away.
    private static func overwrite(_ bytes: UnsafeMutableBufferPointer<UInt8>) { unsafe bytes.update(repeating: 0) }
}
