/// The text of a secret, kept apart from Swift's strings so that it can be overwritten when its last owner lets it go.
///
/// Sendable, because the bytes are written in `init` and in `deinit` only. What this does and does not cover is in
/// docs/authorization.md.
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

    /// A copy that is not overwritten, for the moment of use.
    var text: String { unsafe String(decoding: bytes, as: UTF8.self) }

    /// Bytes of UTF-8.
    var count: Int { unsafe bytes.count }

    static func == (one: SecretText, other: SecretText) -> Bool {
        unsafe one === other || one.bytes.elementsEqual(other.bytes)
    }

    func hash(into hasher: inout Hasher) { unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }

    /// The memory goes back to an allocator that the compiler cannot see into, so the zeros are not optimized away.
    private static func overwrite(_ bytes: UnsafeMutableBufferPointer<UInt8>) { unsafe bytes.update(repeating: 0) }
}
