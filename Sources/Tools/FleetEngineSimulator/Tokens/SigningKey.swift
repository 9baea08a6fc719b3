import CCrypto

/// An RSA key that makes and verifies RS256 signatures. Unless it is given a key, the simulator generates one with 2048
/// bits when it starts, and never writes it to a file.
@safe final class SigningKey {
    /// The reason why a key can't be read, generated or used to sign. If generating or signing fails, the installation
    /// of libcrypto is broken.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let key: OpaquePointer

    init() throws(Failure) {
        guard let key = unsafe ccrypto_generate_rsa(2048) else {
            throw Failure(description: "libcrypto cannot generate an RSA key; check the installation of libssl3")
        }
        unsafe self.key = key
    }

    /// Creates a key from the value of `encoded`. This avoids generating a key, which takes a large part of a second.
    init(encoded: [UInt8]) throws(Failure) {
        let key = unsafe encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let key = unsafe key else { throw Failure(description: "the signing key is not a private key in DER") }
        unsafe self.key = key
    }

    /// Creates a key that can only verify signatures. `text` is another issuer's public key, in the format that
    /// `openssl pkey -pubout` writes.
    init(publicPEM text: [UInt8]) throws(Failure) {
        let key = unsafe text.withUnsafeBytes { bytes in
            let source = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count))
            defer {
                unsafe BIO_free(source)
                ERR_clear_error()
            }
            return unsafe PEM_read_bio_PUBKEY(source, nil, nil, nil)
        }
        guard let key = unsafe key else {
            throw Failure(
                description:
                    "the trusted key is not a public key in PEM; extract it from a private key with openssl pkey "
                    + "-pubout -in FILE, or from a certificate with openssl x509 -pubkey -noout -in FILE")
        }
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            unsafe EVP_PKEY_free(key)
            throw Failure(description: "the trusted key isn't an RSA key, but tokens are signed with RS256")
        }
        unsafe self.key = key
    }

    /// The private key in DER.
    var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(unsafe i2d_PrivateKey(key, nil)))
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var start = bytes.baseAddress
            _ = unsafe i2d_PrivateKey(key, &start)
        }
        return bytes
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Returns the RS256 signature of `message`, which is RSASSA-PKCS1-v1_5 with SHA-256.
    func signature(of message: [UInt8]) throws(Failure) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 256)
        var length = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw Failure(description: "libcrypto cannot sign a token") }
        return Array(signature[..<length])
    }

    /// Whether `signature` is a valid signature of `message` by this key. libcrypto compares in constant time.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        defer { ERR_clear_error() }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
