/// How an ordered error tells when to come again.
package enum RetryAdvice: Sendable, Hashable {
    /// A `Retry-After` header.
    case header(seconds: Int)
    /// `google.rpc.RetryInfo` in the body.
    case detail(seconds: Int)
}
