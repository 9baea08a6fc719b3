import CZlib
import ReportedText

/// Unpacks gzip data as it comes, one member after another (RFC 1952).
@safe final class GzipStream {
    enum Failure: Error, Sendable, Hashable {
        /// Not gzip data, or damaged; zlib's words.
        case damaged(String)
    }

    /// What one step did.
    struct Step: Sendable, Hashable {
        var consumed: Int
        var produced: Int
    }

    /// zlib keeps the address of this structure, so it lives on the heap.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether input so far ends exactly at the end of a member: the only place where an archive may end.
    private(set) var isAtMemberEnd = false
    /// What the next step throws: what came out before the damage comes first.
    private var damage: Failure?

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let code = unsafe czlib_inflate_init(stream)
        precondition(code == Z_OK, "cannot start zlib: error \(code)")
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Unpacks from `input` into `output`, until either is used up or a member ends.
    ///
    /// A slice and not a `Span`, which Swift 6.2 does not accept beside an inout `MutableSpan` in a method.
    func unpack(_ input: ArraySlice<UInt8>, into output: inout MutableSpan<UInt8>) throws(Failure) -> Step {
        if let damage { throw damage }
        if isAtMemberEnd, !input.isEmpty {
            unsafe inflateReset(stream)
            isAtMemberEnd = false
        }
        let code = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe inflate(stream, Z_NO_FLUSH)
            }
        }
        switch code {
        case Z_OK, Z_BUF_ERROR: break  // the latter only says that there was nothing to do
        case Z_STREAM_END: isAtMemberEnd = true
        default:
            damage = .damaged(
                unsafe stream.pointee.msg.map { unsafe ReportedText(String(cString: $0)).description }
                    ?? "error \(code)")
        }
        let produced = output.count - Int(unsafe stream.pointee.avail_out)
        if let damage, produced == 0 { throw damage }
        return Step(consumed: input.count - Int(unsafe stream.pointee.avail_in), produced: produced)
    }
}
