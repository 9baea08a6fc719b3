import CCrypto

/// The OpenSSL library of this process.
enum OpenSSLLibrary {
    /// Whether the library is initialised and won't clean itself up at exit. If it did, a thread that is still running
    /// during `exit` would crash. Check this before any other call of OpenSSL.
    static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
