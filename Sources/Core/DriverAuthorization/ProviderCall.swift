import Foundation
import ReportedText
import Synchronization
import VehicleAuthorization

/// A call to a provider. Accepts the provider's first answer, from any thread, and reports contract violations.
final class ProviderCall: Sendable {
    private let first = FirstAnswer()
    private let breaches: ContractBreaches
    private let callbacks = Atomic(0)
    /// Whether the call has been answered or the caller has stopped waiting, so that no answer is needed.
    private let isOver = Atomic(false)
    private let hasBegun = Atomic(false)
    private let hasEnded = Atomic(false)
    /// The id of the thread on which the completion form is being called; 0 if it isn't being called.
    private let thread = Atomic(0)
    private let lacksCompletionForm = Atomic(false)

    init(_ breaches: ContractBreaches) { self.breaches = breaches }

    var wasMade: Bool { hasBegun.load(ordering: .acquiring) }

    /// Whether the call is queued or in progress.
    var isPending: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Whether the completion form has been called but hasn't returned.
    var blocksThread: Bool { thread.load(ordering: .acquiring) != 0 }

    /// Begins the call. Returns `false` if the caller has stopped waiting.
    func begin() -> Bool {
        guard !isOver.load(ordering: .acquiring) else { return false }
        thread.store(Self.currentThread, ordering: .releasing)
        hasBegun.store(true, ordering: .releasing)
        return true
    }

    /// Records that the completion form has returned. Returns `false` if the provider doesn't implement that form.
    func recordReturn() -> Bool {
        thread.store(0, ordering: .releasing)
        return !lacksCompletionForm.load(ordering: .acquiring)
    }

    /// Records that the call has ended.
    func recordEnd() { hasEnded.store(true, ordering: .releasing) }

    /// Accepts the provider's answer.
    ///
    /// `isFinal` says whether the form that answers is the last one to try. If another form will be tried, and the
    /// provider doesn't implement the current one, the answer isn't used.
    func acceptAnswer(token: String?, error: (any Error)?, isFinal: Bool = false) {
        if !isFinal, error as? ProviderContractError == .noCompletionForm {
            lacksCompletionForm.store(true, ordering: .releasing)
            return
        }
        let earlier = callbacks.add(1, ordering: .acquiringAndReleasing).oldValue
        guard earlier == 0 else { return breaches.record(.calledBackTwice) }
        if thread.load(ordering: .acquiring) == Self.currentThread { breaches.record(.calledBackSynchronously) }
        // If the provider passes both a token and an error, the token is used, so that a valid one isn't lost. Its
        // claims and its lifetime are checked as usual.
        if token != nil, error != nil { breaches.record(.passedTokenAndError) }
        isOver.store(true, ordering: .releasing)
        first.accept(token: token, error: error)
    }

    /// Records that the caller has stopped waiting. A later answer is ignored.
    func abandon(with error: any Error) {
        isOver.store(true, ordering: .releasing)
        first.accept(token: nil, error: error)
    }

    func answer() async -> Result<String, any Error> {
        do { return .success(try await first.value()) } catch { return .failure(error) }
    }

    private static var currentThread: Int { ObjectIdentifier(Thread.current).hashValue | 1 }
}

/// The first answer that a completion handler receives. All others are ignored.
final class FirstAnswer: Sendable {
    private let answers: AsyncStream<Result<String, any Error>>
    private let taker: AsyncStream<Result<String, any Error>>.Continuation

    init() {
        // The buffer keeps the oldest element, so a second answer is dropped.
        (answers, taker) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func accept(token: String?, error: (any Error)?) {
        taker.yield(token.map(Result.success) ?? .failure(error ?? ProviderContractError.emptyAnswer))
        taker.finish()
    }

    /// Waits for the answer and returns the token.
    ///
    /// - Throws: the provider's error, or `CancellationError` if the task is cancelled first.
    func value() async throws -> String {
        for await answer in answers { return try answer.get() }
        throw CancellationError()
    }
}

/// The contract violations of a provider. Each kind is reported once.
final class ContractBreaches: Sendable {
    /// A rule of the contract that a provider has broken.
    enum Breach: UInt8 {
        case calledBackTwice = 1
        case calledBackSynchronously = 2
        case neverCalledBack = 4
        case neverReturned = 8
        case passedTokenAndError = 16

        fileprivate var words: String {
            switch self {
            case .calledBackTwice:
                "the token provider called back more than once for one fetchToken; only the first answer is used. "
                    + "Change it to call its completion handler exactly once"
            case .calledBackSynchronously:
                "the token provider called back before its fetchToken returned; that works here, but the SDKs require "
                    + "an asynchronous call to the completion handler"
            case .neverCalledBack:
                "the token provider did not call back in time; "
                    + "change it to call its completion handler on every path, with an error if there is no token"
            case .neverReturned:
                "the token provider's fetchToken does not return: it blocks the thread that calls it. "
                    + "Change it to return at once and call its completion handler later"
            case .passedTokenAndError:
                "the token provider called back with both a token and an error; the token is used. "
                    + "Change it to pass only one of them: an error if it failed, otherwise a token"
            }
        }
    }

    private let reported = Atomic<UInt8>(0)
    private let report: @Sendable (AuthorizationWarning) -> Void

    /// Creates an empty record of violations. `report` receives each kind of violation once. If it is `nil`, violations
    /// are written to standard error.
    init(report: (@Sendable (AuthorizationWarning) -> Void)?) {
        self.report =
            report ?? { warning in
                guard case .brokenContract(let words) = warning else { return }
                FileHandle.standardError.write(Data("waypost: \(words)\n".utf8))
            }
    }

    func record(_ breach: Breach) {
        let earlier = reported.bitwiseOr(breach.rawValue, ordering: .relaxed).oldValue
        if earlier & breach.rawValue == 0 { report(.brokenContract(breach.words)) }
    }
}

/// A violation of the contract of `GMTDAuthorization` or `GMTCAuthorization`.
public enum ProviderContractError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The provider doesn't implement the form of `fetchToken` that was called, or implements neither form.
    case noCompletionForm
    /// The provider called back with neither token nor error.
    case emptyAnswer

    /// A description of the violation and its remedy.
    public var description: String {
        switch self {
        case .noCompletionForm: "the provider has no fetchToken(with:completion:); implement it, or the async form"
        case .emptyAnswer: "the provider called back with neither a token nor an error; pass one of them"
        }
    }
}

/// A message for a provider's error, which may be from the app, from `URLSession` or from any other part of Foundation.
/// It shows only the kind of error, because the details could contain anything, even a token.
struct ProviderErrorMessage {
    let text: ReportedText

    init(_ error: any Error) {
        let plain = error as NSError
        if plain.domain == NSURLErrorDomain {
            let known = Self.urlErrors[plain.code]
            text = known.map { "\($0.words) (URLError.\($0.name))" } ?? "URLError, code \(plain.code)"
            return
        }
        let mirror = Mirror(reflecting: error)
        if mirror.displayStyle == .enum {
            // An enum case without associated values prints as its name. For a case with associated values, the
            // mirror's label is the name.
            let name = mirror.children.first.map { $0.label ?? "" } ?? "\(error)"
            text = ReportedText("\(type(of: error)).\(name)")
        } else {
            text = "\(ReportedText(plain.domain)), code \(plain.code)"
        }
    }

    /// The `URLError` codes that a failed fetch can have.
    private static let urlErrors: [Int: (name: String, words: String)] = [
        -999: ("cancelled", "the request was cancelled"),
        -1000: ("badURL", "the URL is malformed"),
        -1001: ("timedOut", "the request timed out"),
        -1002: ("unsupportedURL", "the URL's scheme is not supported"),
        -1003: ("cannotFindHost", "the host name cannot be resolved"),
        -1004: ("cannotConnectToHost", "a connection to the host could not be made"),
        -1005: ("networkConnectionLost", "the connection was lost"),
        -1006: ("dnsLookupFailed", "the host name cannot be resolved"),
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
        -1020: ("dataNotAllowed", "the network does not allow data"),
        -1022: ("appTransportSecurityRequiresSecureConnection", "the URL must use https"),
        -1103: ("dataLengthExceedsMaximum", "the answer is too large"),
        -1200: ("secureConnectionFailed", "no TLS connection could be made"),
        -1201: ("serverCertificateHasBadDate", "the server's certificate has expired; also check the clock"),
        -1202: ("serverCertificateUntrusted", "the server's certificate is not trusted"),
        -1203: ("serverCertificateHasUnknownRoot", "the authority that issued the server's certificate is unknown"),
        -1204: ("serverCertificateNotYetValid", "the server's certificate is not valid yet; check the clock"),
        -1205: ("clientCertificateRejected", "the server rejected the client certificate"),
        -1206: ("clientCertificateRequired", "the server requires a client certificate"),
    ]
}
