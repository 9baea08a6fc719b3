import CCrypto

/// The OpenSSL library of this process.
enum OpenSSLLibrary {
    /// Whether the library is initialized and won't be cleaned up at exit. A thread that outlives `exit` would crash in
    /// a cleaned-up library. Check this before any other call of OpenSSL.
    static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
