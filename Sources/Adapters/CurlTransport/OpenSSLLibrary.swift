import CCrypto

/// OpenSSL as this process uses it.
enum OpenSSLLibrary {
    /// Whether it is ready, and will not be cleaned up at exit: a thread that `exit` doesn't wait for, and that ends at
    /// that moment, would crash in it. To be asked before anything else of OpenSSL is called.
    static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
