package import ReportedText

/// Why there is no token, as typed facts. The program around the provider puts them into words.
package enum TokenFault: Sendable, Hashable {
    /// The context lacks the id of its vehicle, trip or shipment.
    case incompleteContext(AuthorizationContext)
    /// The provider has no tokens for such a context; `nil` if there is no context.
    case unsuitableContext(AuthorizationContext?)
    /// The endpoint gave no complete answer; with the transport's message.
    case unanswered(TokenOrigin, ExchangeFault, ReportedText)
    /// The endpoint answered with a status that isn't a success.
    case rejected(TokenOrigin, EndpointRejection)
    /// No token was found in what was answered, printed or read.
    case unusableAnswer(TokenOrigin, AnswerFault)
    case expired(TokenOrigin?, ExpiryFault)
    case wrongClaims(ClaimFault, AuthorizationContext)
    case commandFailed(TokenOrigin, CommandFault)
    /// The program of a command can't be started; with the key that names it.
    case programUnusable(key: String, ProgramFault)
    /// A file, variable or credential can't be used.
    case sourceUnusable(SourceFault)
    /// A value of the configuration can't be used; with its key.
    case invalidSetting(key: String, SettingFault)
    case providerFailed(ProviderFault)
    /// A provider that isn't Waypost's own reported this.
    case reported(AuthorizationError.Code, ReportedText)
    /// The system has no room for a process or thread; with the keys that need one.
    case noResources(String, ReportedText)
    case cancelled

    /// The kinds of failure that differ in their remedy.
    package enum Kind: Sendable, Hashable {
        case endpointUnreachable, endpointTLS, rejected, unusable, wrongClaims
        /// A command, a file or a provider.
        case sourceFailed
    }

    package var kind: Kind {
        switch self {
        case .unanswered(_, let fault, _): fault.kind
        case .rejected(_, let rejection): rejection.kind
        case .unusableAnswer, .expired: .unusable
        case .wrongClaims: .wrongClaims
        case .reported(.refused, _): .rejected
        case .reported(.unusableAnswer, _): .unusable
        case .incompleteContext, .unsuitableContext, .commandFailed, .programUnusable, .sourceUnusable,
            .invalidSetting, .providerFailed, .reported, .noResources, .cancelled:
            .sourceFailed
        }
    }

    package var code: AuthorizationError.Code {
        switch self {
        case .incompleteContext, .unsuitableContext, .invalidSetting(_, .noValue): .missingContext
        case .unanswered(_, let fault, _): fault.code
        case .rejected(_, let rejection):
            switch rejection.kind {
            case .unusable: .unusableAnswer
            case .endpointUnreachable: .unavailable
            case .rejected, .endpointTLS, .wrongClaims, .sourceFailed: .refused
            }
        case .unusableAnswer, .expired, .wrongClaims, .commandFailed(_, .tooMuchOutput),
            .providerFailed(.emptyAnswer), .providerFailed(.noCompletionForm):
            .unusableAnswer
        case .commandFailed, .providerFailed, .noResources: .unavailable
        case .programUnusable, .sourceUnusable, .invalidSetting: .misconfigured
        case .reported(let code, _): code
        case .cancelled: .cancelled
        }
    }
}

/// Where a token comes from.
package struct TokenOrigin: Sendable, Hashable, CustomStringConvertible {
    /// How an issuer is asked, by the key that names it.
    package enum Means: String, Sendable { case endpoint = "url", command, file = "path" }

    package let means: Means
    /// The address without the values of its query, the program, or the file's path.
    package let place: String
    /// The section of the configuration, such as `authorization`.
    package let section: String
    /// Under which key an answer should have the token.
    package let tokenKey: String
    /// Whose token was asked for.
    package let subject: AuthorizationContext.Subject?
    /// The keys of what says who asks, such as `authorization.headers`.
    package let credentials: [String]

    package init(
        _ means: Means, _ place: String, section: String = "authorization", tokenKey: String = "",
        subject: AuthorizationContext.Subject? = nil, credentials: [String] = []
    ) {
        self.means = means
        self.place = place
        self.section = section
        self.tokenKey = tokenKey
        self.subject = subject
        self.credentials = credentials
    }

    /// The name, such as `token command /usr/bin/token`.
    package var description: String {
        switch means {
        case .endpoint: "token endpoint \(place)"
        case .command: "token command \(place)"
        case .file: "token file \(place)"
        }
    }

    /// Whether a client certificate is sent.
    package var sendsCertificate: Bool { credentials.contains("\(section).clientCertificateFile") }
}

/// Why a token endpoint gave no complete answer.
package enum ExchangeFault: Sendable, Hashable {
    case nameNotResolved
    case connectionFailed
    case timedOut
    case connectionLost(isEncrypted: Bool)
    /// The connection ended within an answer.
    case answerBrokenOff
    /// A proxy failed; the message has the remedy.
    case proxyFailed
    case tlsFailed
    /// The endpoint's versions of TLS are older than 1.2.
    case oldTLS
    case certificateRequired
    /// The endpoint rejects the client certificate.
    case certificateRejected
    /// The endpoint's certificate isn't trusted; `nil` if it isn't known why.
    case untrustedCertificate(CertificateFault?)
    /// This machine can't make the exchange.
    case clientFailed
    case answerTooLarge
    case malformedAnswer
    /// The answer is compressed in a way that can't be decoded.
    case undecodableAnswer

    package enum CertificateFault: Sendable, Hashable { case outsideItsTime, ofAnotherName, ofUnknownAuthority }

    fileprivate var kind: TokenFault.Kind {
        switch self {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .answerBrokenOff, .proxyFailed:
            .endpointUnreachable
        case .tlsFailed, .oldTLS, .certificateRequired, .certificateRejected, .untrustedCertificate, .clientFailed:
            .endpointTLS
        case .answerTooLarge, .malformedAnswer, .undecodableAnswer: .unusable
        }
    }

    fileprivate var code: AuthorizationError.Code {
        if self == .clientFailed { return .misconfigured }
        return kind == .unusable ? .unusableAnswer : .unavailable
    }
}

/// An endpoint's answer with a status that isn't a success.
package struct EndpointRejection: Sendable, Hashable {
    /// What the answer shows beyond its status.
    package enum Detail: Sendable, Hashable {
        /// A redirect; `nil` if it doesn't say where to.
        case redirect(to: ReportedText?)
        case redirectToItself
        case allowedMethods([String])
        case httpsExpected
        case certificateRequired
        case certificateRejected
        /// An OAuth grant, such as a refresh token, that was used before.
        case spentGrant
    }

    package let status: Int
    package let detail: Detail?
    /// Whether the body is HTML or XML, which may come from another server.
    package let isPage: Bool
    /// The backend's own message.
    package let message: ReportedText?

    package init(status: Int, detail: Detail? = nil, isPage: Bool = false, message: ReportedText? = nil) {
        self.status = status
        self.detail = detail
        self.isPage = isPage
        self.message = message
    }

    fileprivate var kind: TokenFault.Kind {
        switch status {
        case 300..<400: .unusable
        case 408, 425, 429, 500...: .endpointUnreachable
        default: .rejected
        }
    }
}

/// Why a token is over.
package enum ExpiryFault: Sendable, Hashable {
    /// Its `exp` isn't after its `iat`.
    case endsBeforeIssue
    /// It had ended when it was given, by the endpoint's clock, by this host's, or by what was said of it.
    case overWhenGiven(Judge)
    /// It ended while it was fetched.
    case overWhenReceived(AuthorizationContext)

    package enum Judge: Sendable, Hashable { case issuer, synchronizedHost, statement }
}

/// Why a command that was started gave no token.
package enum CommandFault: Sendable, Hashable {
    /// What the program said about it.
    package struct Output: Sendable, Hashable {
        /// At most two lines of its standard error, the most telling one first.
        package let lines: [ReportedText]
        /// Whether it wrote something on standard output, which may be a token.
        package let hasOutput: Bool

        package init(lines: [ReportedText] = [], hasOutput: Bool = false) {
            self.lines = lines
            self.hasOutput = hasOutput
        }
    }

    case exited(Int, Output)
    case signalled(Int, Output)
    case timedOut(Duration, Output)
    /// It wrote more than 64 KiB.
    case tooMuchOutput
    /// A process of it could not be ended.
    case stillRuns(processID: Int)
    /// So many processes of it are still being ended.
    case isBeingEnded(Int)
}

/// Why a program can't be started.
package enum ProgramFault: Sendable, Hashable {
    case notInPath(String)
    case missing(String)
    /// A program and its arguments in one text.
    case commandLine(program: String, line: String)
    /// A path that begins with `~`.
    case homePath(String)
    case notAFile(String, kind: String)
    case notExecutable(String)
    /// This user may not execute it, or its file system allows no programs.
    case forbidden(String)
    case otherProcessor(String)
    /// Its loader is missing.
    case otherSystem(String)
    case empty(String)
    case byteOrderMark(String)
    case noInterpreter(String)
    /// The program has the line ends of Windows.
    case carriageReturn(String)
    case interpreterMissing(String, ReportedText)
    /// `env` doesn't find the interpreter in the given directories.
    case interpreterNotFound(String, firstLine: ReportedText, name: ReportedText, directories: String)
    /// `/dev/null` is missing.
    case noNullDevice
    /// The kernel gives this reason.
    case notStarted(String, ReportedText)
}

/// A file, variable or credential that can't be used.
package struct SourceFault: Sendable, Hashable {
    package enum Source: Sendable, Hashable {
        /// The configuration itself.
        case literal
        case file(String)
        case variable(String)
        case credential(String)
    }

    package enum Problem: Sendable, Hashable {
        case notSet
        case notAName
        /// systemd has given this process no credential.
        case noCredentials
        case noSuchCredential
        case unreadable(FileFault, ReportedText)
        case notAFile
        case openToEveryUser(isMounted: Bool)
        case tooLarge(maximumBytes: Int)
        case empty
        case serviceAccountKey
        case notUTF8
        case severalLines
        /// A key for the scheme `bearer` has quotes, spaces or the word of another scheme.
        case notAKey
        /// A value for the scheme `basic` isn't `user:password`.
        case notAPair
        /// Credentials have a variable such as `${TOKEN}`.
        case unfilledVariable
        /// Credentials are `user:password` without a scheme.
        case noScheme
    }

    package enum FileFault: Sendable, Hashable { case missing, forbidden, linkLoop, other }

    /// What it is for, such as `header Authorization` or `the token`.
    package let use: String
    package let source: Source
    package let problem: Problem

    package init(_ use: String, _ source: Source, _ problem: Problem) {
        self.use = use
        self.source = source
        self.problem = problem
    }

    /// Whether the service may have what this process lacks.
    package var mayConcernThisProcessAlone: Bool { problem == .notSet || problem == .noCredentials }
}

/// Why a value of the configuration can't be used.
package enum SettingFault: Sendable, Hashable {
    case unknownPlaceholder(String)
    /// The context has no value for the placeholder.
    case noValue(placeholder: String, AuthorizationContext)
    /// It isn't a URL that may be used; with the reason and the remedy.
    case invalidURL(ReportedText)
    case noProgram
}

/// How a provider of the customer's failed.
package enum ProviderFault: Sendable, Hashable {
    /// It gave neither a token nor an error in this time.
    case silent(Duration)
    case notCalledBack(Duration)
    /// It was held up by another call.
    case heldUp(Duration)
    /// It has not returned from an earlier call.
    case busy
    case emptyAnswer
    /// It implements neither form of `fetchToken`.
    case noCompletionForm
    /// It reported a cancellation while a caller waited.
    case gaveUp
    /// It reported an error of this kind.
    case failed(ReportedText)
}
