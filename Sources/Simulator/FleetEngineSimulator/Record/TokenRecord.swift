/// A token that was issued; the token itself is not kept. Times in seconds since 1970.
package struct TokenRecord: Sendable, Hashable {
    package let kind: String
    package let id: String?
    package let issuedAt: Int64
    package let expiry: Int64
}
