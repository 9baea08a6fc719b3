import Foundation
import ReportedText

/// What a provider failed with, in words for the operator: an error of the app's, of `URLSession` or of any other part
/// of Foundation. What it carries beside its kind could hold anything, a token too, and is not shown.
struct ProviderFailure: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        let plain = error as NSError
        if plain.domain == NSURLErrorDomain {
            let known = Self.urlErrors[plain.code]
            description = known.map { "\($0.words) (URLError.\($0.name))" } ?? "URLError, code \(plain.code)"
            return
        }
        let mirror = Mirror(reflecting: error)
        if mirror.displayStyle == .enum {
            // A case without values prints its name; one with values is labelled with it.
            let name = mirror.children.first.map { $0.label ?? "" } ?? "\(error)"
            description = ReportedText("\(type(of: error)).\(name)").description
        } else {
            description = "\(ReportedText(plain.domain)), code \(plain.code)"
        }
    }

    /// The codes of `URLError` that a fetch can end with.
    private static let urlErrors: [Int: (name: String, words: String)] = [
        -999: ("cancelled", "the request was cancelled"),
        -1000: ("badURL", "the URL is malformed"),
        -1001: ("timedOut", "the request timed out"),
        -1002: ("unsupportedURL", "the URL's scheme is not supported"),
        -1003: ("cannotFindHost", "the host's name cannot be resolved"),
        -1004: ("cannotConnectToHost", "the host cannot be connected to"),
        -1005: ("networkConnectionLost", "the connection was lost"),
        -1006: ("dnsLookupFailed", "the host's name cannot be resolved"),
        -1007: ("httpTooManyRedirects", "there were too many redirects"),
        -1008: ("resourceUnavailable", "the resource is unavailable"),
        -1009: ("notConnectedToInternet", "this machine is not connected to the Internet"),
        -1010: ("redirectToNonExistentLocation", "a redirect leads nowhere"),
        -1011: ("badServerResponse", "the server's answer is malformed"),
        -1012: ("userCancelledAuthentication", "the authentication was cancelled"),
        -1013: ("userAuthenticationRequired", "the server asks for credentials"),
        -1014: ("zeroByteResource", "the answer is empty"),
        -1015: ("cannotDecodeRawData", "the answer cannot be decoded"),
        -1016: ("cannotDecodeContentData", "the answer cannot be decoded"),
        -1017: ("cannotParseResponse", "the answer cannot be parsed"),
        -1020: ("dataNotAllowed", "the network allows no data"),
        -1022: ("appTransportSecurityRequiresSecureConnection", "the URL must be one of https"),
        -1103: ("dataLengthExceedsMaximum", "the answer is too large"),
        -1200: ("secureConnectionFailed", "no TLS connection could be made"),
        -1201: ("serverCertificateHasBadDate", "the server's certificate has expired; check the clock too"),
        -1202: ("serverCertificateUntrusted", "the server's certificate is not trusted"),
        -1203: ("serverCertificateHasUnknownRoot", "the authority of the server's certificate is not known"),
        -1204: ("serverCertificateNotYetValid", "the server's certificate is not valid yet; check the clock"),
        -1205: ("clientCertificateRejected", "the server rejected the client's certificate"),
        -1206: ("clientCertificateRequired", "the server asks for a client's certificate"),
    ]
}
