import CCrypto
import Glibc
package import TimeAndRandomness

/// The validity period of a certificate (RFC 5280, section 4.1.2.5).
package struct CertificateValidity: Sendable, Hashable {
    package let begin: UTCTime
    package let end: UTCTime

    /// Returns the validity periods of the certificates in a PEM file, in order, up to the first one that can't be
    /// read. Skips everything else in the file.
    package static func all(inPEM bytes: [UInt8]) -> [Self] {
        guard OpenSSLLibrary.isReady else { return [] }
        return unsafe bytes.withUnsafeBytes { bytes in
            let source = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count))
            defer {
                unsafe BIO_free(source)
                ERR_clear_error()
            }
            var found: [Self] = []
            while let certificate = unsafe PEM_read_bio_X509_AUX(source, nil, nil, nil) {
                defer { unsafe X509_free(certificate) }
                guard let begin = unsafe time(X509_get0_notBefore(certificate)),
                    let end = unsafe time(X509_get0_notAfter(certificate))
                else { break }
                found.append(Self(begin: begin, end: end))
            }
            return found
        }
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> UTCTime? {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return UTCTime(millisecondsSince1970: Int64(unsafe timegm(&parts)) * 1000)
    }
}
