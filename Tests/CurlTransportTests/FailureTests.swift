import CCurl
import Conditions
import HTTPMessages
import ReportedText
import Testing

@testable import CurlTransport

@Suite struct Failure {
    @Test(
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, HTTPTransportError.Code.nameNotResolved),
            (CURLE_COULDNT_CONNECT, .connectionFailed), (CURLE_INTERFACE_FAILED, .connectionFailed),
            (CURLE_OPERATION_TIMEDOUT, .timedOut), (CURLE_GOT_NOTHING, .connectionLost),
            (CURLE_PARTIAL_FILE, .connectionLost), (CURLE_SEND_ERROR, .connectionLost),
            (CURLE_RECV_ERROR, .connectionLost), (CURLE_HTTP2, .connectionLost),
            (CURLE_HTTP2_STREAM, .connectionLost), (CURLE_PEER_FAILED_VERIFICATION, .certificateNotTrusted),
            (CURLE_SSL_ISSUER_ERROR, .certificateNotTrusted), (CURLE_SSL_INVALIDCERTSTATUS, .certificateNotTrusted),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed), (CURLE_SSL_CIPHER, .tlsFailed), (CURLE_SSL_CLIENTCERT, .tlsFailed),
            (CURLE_FILESIZE_EXCEEDED, .responseTooLarge), (CURLE_UNSUPPORTED_PROTOCOL, .malformedResponse),
            (CURLE_WEIRD_SERVER_REPLY, .malformedResponse), (CURLE_BAD_CONTENT_ENCODING, .unknownContentEncoding),
            (CURLE_SSL_CACERT_BADFILE, .transportFailed), (CURLE_SSL_CERTPROBLEM, .transportFailed),
            (CURLE_OUT_OF_MEMORY, .malformedResponse), (CURLE_FAILED_INIT, .transportFailed),
            (CURLE_URL_MALFORMAT, .transportFailed), (CURLE_WRITE_ERROR, .transportFailed),
        ])
    func hasTheCodeThatCorrespondsToLibcurls(curl: CURLcode, code: HTTPTransportError.Code) {
        let failure = CurlFailure(curl, message: "words", limits: HTTPLimits())
        #expect(failure.code == code)
        #expect(!failure.fault.cause.isEmpty)
    }

    @Test func connectionFailureGivesItsReasonOnce() {
        let message: ReportedText = "Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server"
        let failure = CurlFailure(
            CURLE_COULDNT_CONNECT, message: message, refusal: "Connection refused", limits: HTTPLimits())
        #expect(failure.fault.cause == "no connection: Connection refused")
        let unexplained = CurlFailure(CURLE_COULDNT_CONNECT, message: message, limits: HTTPLimits())
        #expect("\(unexplained.fault.cause)" == "no connection: \(message)")
    }

    /// The numbers are OpenSSL's `X509_V_...`.
    @Test(
        arguments: [
            (0, .otherHostName), (1, .otherHostName), (62, .otherHostName), (9, .notValidNow), (10, .notValidNow),
            (2, .unknownAuthority), (18, .unknownAuthority), (19, .unknownAuthority), (20, .unknownAuthority),
            (21, .unknownAuthority), (23, nil),
        ] as [(Int, CertificateFault?)])
    func certificateFailureNamesTheFault(verification: Int, fault: CertificateFault?) {
        let failure = CurlFailure(
            CURLE_PEER_FAILED_VERIFICATION, message: "words", verificationResult: verification, limits: HTTPLimits())
        #expect(failure.fault.cause == "its certificate is not trusted: words" && failure.certificateFault == fault)
        // The result of the verification says nothing about a connection that failed for another reason.
        let other = CurlFailure(
            CURLE_SSL_CONNECT_ERROR, message: "words", verificationResult: verification, limits: HTTPLimits())
        #expect(other.certificateFault == nil)
    }

    @Test func authoritiesFileFailureHasARemedy() {
        let failure = CurlFailure(CURLE_SSL_CACERT_BADFILE, message: "error adding trust anchors", limits: HTTPLimits())
        #expect(
            "\(failure.fault.cause)"
                == "the file of certificate authorities cannot be read: install ca-certificates, or specify a file "
                + "in caFile (error adding trust anchors)")
    }

    @Test(arguments: [(Duration.seconds(10), "10 s"), (.milliseconds(1500), "1.5 s"), (.zero, "0 s")])
    func statesItsLimitInSeconds(limit: Duration, text: String) {
        #expect("\(TransferFault.answerTimedOut(limit: limit).cause)" == "no complete answer within \(text)")
    }
}
