package import ReportedText

/// The reason why there is no token, as values rather than text. The program that uses the provider turns them into a
/// message.
package enum TokenFault: Sendable, Hashable {
    /// The context lacks the id of its vehicle, trip or shipment.
    case incompleteContext(AuthorizationContext)
    /// The provider has no tokens for contexts of this kind; `nil` if it was asked without a context.
    case unsuitableContext(AuthorizationContext?)
    /// The endpoint gave no complete answer. The text is the transport's message.
    case unanswered(TokenOrigin, ExchangeFault, ReportedText)
    /// The endpoint answered with a status other than 2xx.
    case rejected(TokenOrigin, EndpointRejection)
    /// The endpoint's answer, the command's output or the file contains no usable token.
    case unusableAnswer(TokenOrigin, AnswerFault)
    case expired(TokenOrigin?, ExpiryFault)
    case wrongClaims(ClaimFault, AuthorizationContext)
    case commandFailed(TokenOrigin, CommandFault)
    /// The program of a command can't be started. `key` is the configuration key of the program.
    case programUnusable(key: String, ProgramFault)
    /// A file, variable or credential can't be used.
    case sourceUnusable(SourceFault)
    /// A value of the configuration can't be used. `key` is its key.
    case invalidSetting(key: String, SettingFault)
    case providerFailed(ProviderFault)
    /// A provider outside Waypost has reported the failure.
    case reported(AuthorizationError.Code, ReportedText)
    /// The system has no resources left for a process or a thread. The string names the settings that need it.
    case resourcesExhausted(String, ReportedText)
    case cancelled

    /// The kinds of failure, grouped by the action that the operator must take.
    package enum Kind: Sendable, Hashable {
        case endpointUnreachable, endpointTLS, rejected, unusable, wrongClaims
        /// The command, the file, the provider or the configuration has failed.
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
            .invalidSetting, .providerFailed, .reported, .resourcesExhausted, .cancelled:
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
        case .commandFailed, .providerFailed, .resourcesExhausted: .unavailable
        case .programUnusable, .sourceUnusable, .invalidSetting: .misconfigured
        case .reported(let code, _): code
        case .cancelled: .cancelled
        }
    }

    /// This fault without messages and numbers that may change from attempt to attempt, used to log a fault once.
    package var topic: Self {
        switch self {
        case .unanswered(let origin, let fault, _): .unanswered(origin, fault, "")
        case .rejected(let origin, let rejection): .rejected(origin, rejection.topic)
        case .unusableAnswer(let origin, let fault): .unusableAnswer(origin, fault.topic)
        case .wrongClaims(.notYetValid, let context): .wrongClaims(.notYetValid(seconds: 0), context)
        case .commandFailed(let origin, let fault): .commandFailed(origin, fault.topic)
        case .providerFailed(.failed): .providerFailed(.failed(""))
        case .reported(let code, _): .reported(code, "")
        case .incompleteContext, .unsuitableContext, .expired, .wrongClaims, .programUnusable, .sourceUnusable,
            .invalidSetting, .providerFailed, .resourcesExhausted, .cancelled:
            self
        }
    }
}

/// The source from which a token is requested.
package struct TokenOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of source. Each raw value is the configuration key of the source.
    package enum Kind: String, Sendable { case endpoint = "url", command, file = "path" }

    package let kind: Kind
    /// The program, the file's path, or the URL without the values in its query.
    package let place: String
    /// The section of the configuration, such as `authorization`.
    package let section: String
    /// The key under which an answer should contain the token.
    package let tokenKey: String
    /// The vehicle, trip or shipment that the token was requested for; `nil` if it isn't known.
    package let subject: AuthorizationContext.Subject?
    /// The configuration keys of the credentials in the request, such as `authorization.headers`.
    package let credentials: [String]

    package init(
        _ kind: Kind, _ place: String, section: String = "authorization", tokenKey: String = "",
        subject: AuthorizationContext.Subject? = nil, credentials: [String] = []
    ) {
        self.kind = kind
        self.place = place
        self.section = section
        self.tokenKey = tokenKey
        self.subject = subject
        self.credentials = credentials
    }

    /// A name such as `token command /usr/bin/token`.
    package var description: String {
        switch kind {
        case .endpoint: "token endpoint \(place)"
        case .command: "token command \(place)"
        case .file: "token file \(place)"
        }
    }

    /// Whether the request is sent with a client certificate.
    package var sendsCertificate: Bool { credentials.contains("\(section).clientCertificateFile") }
}

/// The reason why a token endpoint gave no complete answer.
package enum ExchangeFault: Sendable, Hashable {
    case nameNotResolved
    case connectionFailed
    case timedOut
    case connectionLost(isEncrypted: Bool)
    /// The connection ended before the answer was complete.
    case answerTruncated
    case proxyFailed(ProxyFault)
    case tlsFailed
    /// The endpoint supports only TLS versions older than 1.2.
    case oldTLS
    case certificateRequired
    /// The endpoint rejects the client certificate.
    case certificateRejected
    /// The endpoint's certificate isn't trusted; `nil` if the reason isn't known.
    case untrustedCertificate(CertificateFault?)
    /// The transport failed on this machine.
    case clientFailed
    case answerTooLarge
    case malformedAnswer
    /// The answer is compressed in a way that can't be decoded.
    case undecodableAnswer

    fileprivate var kind: TokenFault.Kind {
        switch self {
        case .nameNotResolved, .connectionFailed, .timedOut, .connectionLost, .answerTruncated, .proxyFailed:
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

/// An endpoint's answer with a status other than 2xx.
package struct EndpointRejection: Sendable, Hashable {
    /// Details of the answer in addition to its status.
    package enum Detail: Sendable, Hashable {
        /// A redirect; `nil` if it has no destination.
        case redirect(to: ReportedText?)
        case redirectToItself
        case allowedMethods([String])
        case httpsExpected
        case certificateRequired
        case certificateRejected
        /// The server rejected the OAuth grant, such as a refresh token, probably because it has already been used.
        case spentGrant
    }

    package let status: Int
    package let detail: Detail?
    /// Whether the body is HTML or XML, which may come from another server.
    package let isPage: Bool
    /// The backend's own message; `nil` if it sent none.
    package let message: ReportedText?

    package init(status: Int, detail: Detail? = nil, isPage: Bool = false, message: ReportedText? = nil) {
        self.status = status
        self.detail = detail
        self.isPage = isPage
        self.message = message
    }

    fileprivate var topic: Self {
        if case .redirect = detail { return Self(status: status, detail: .redirect(to: nil), isPage: isPage) }
        return Self(status: status, detail: detail, isPage: isPage)
    }

    fileprivate var kind: TokenFault.Kind {
        switch status {
        case 300..<400: .unusable
        case 408, 425, 429, 500...: .endpointUnreachable
        default: .rejected
        }
    }
}

/// The reason why a token is considered expired.
package enum ExpiryFault: Sendable, Hashable {
    /// The token's `exp` isn't after its `iat`.
    case endsBeforeIssue
    /// The token had already expired when the issuer returned it. The associated value is the evidence: the issuer's
    /// clock, this host's synchronised clock, or the stated expiry.
    case expiredWhenReturned(Evidence)
    /// The token expired while it was being fetched.
    case expiredDuringFetch(AuthorizationContext)

    package enum Evidence: Sendable, Hashable { case issuer, synchronizedHost, statement }
}

/// The reason why a command that was started returned no token.
package enum CommandFault: Sendable, Hashable {
    /// The program's own messages.
    package struct Output: Sendable, Hashable {
        /// At most two lines of the program's standard error, the more informative one first.
        package let lines: [ReportedText]
        /// Whether the program wrote to standard output, which may contain a token.
        package let hasOutput: Bool

        package init(lines: [ReportedText] = [], hasOutput: Bool = false) {
            self.lines = lines
            self.hasOutput = hasOutput
        }
    }

    case exited(Int, Output)
    case signalled(Int, Output)
    case timedOut(Duration, Output)
    /// The command wrote more than 64 KiB.
    case tooMuchOutput
    /// A process of the command could not be killed.
    case processStillRunning(processID: Int)
    /// This many processes of the command have been killed but have not ended yet.
    case processesEnding(Int)

    fileprivate var topic: Self {
        switch self {
        case .exited(let status, _): .exited(status, Output())
        case .signalled(let signal, _): .signalled(signal, Output())
        case .timedOut(let limit, _): .timedOut(limit, Output())
        case .tooMuchOutput: self
        case .processStillRunning: .processStillRunning(processID: 0)
        case .processesEnding: .processesEnding(0)
        }
    }
}

/// The reason why a program can't be started.
package enum ProgramFault: Sendable, Hashable {
    case notInPath(String)
    case missing(String)
    /// The setting contains a program and its arguments in one string.
    case programWithArguments(program: String, line: String)
    /// The path begins with `~`, which only a shell expands.
    case unexpandedTilde(String)
    case notAFile(String, kind: String)
    case notExecutable(String)
    /// This user isn't allowed to execute the program, or the program is on a file system that is mounted with
    /// `noexec`.
    case forbidden(String)
    case builtForOtherProcessor(String)
    /// The program's dynamic loader is missing, because the program was built for another system.
    case builtForOtherSystem(String)
    case empty(String)
    case byteOrderMark(String)
    case noInterpreter(String)
    /// The program has Windows line endings.
    case carriageReturn(String)
    case interpreterMissing(String, ReportedText)
    /// `env` doesn't find the interpreter in the given directories.
    case interpreterNotFound(String, firstLine: ReportedText, name: ReportedText, directories: String)
    /// `/dev/null` is missing.
    case noNullDevice
    /// The kernel didn't start the program, for the given reason.
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
        case invalidCredentialName
        /// systemd has passed no credentials to this process.
        case noCredentials
        case noSuchCredential
        case unreadable(FileFault, ReportedText)
        case notAFile
        case readableByEveryUser(isMounted: Bool)
        case tooLarge(maximumBytes: Int)
        case empty
        case serviceAccountKey
        case notUTF8
        case multipleLines
        /// A key for the scheme `bearer` contains quotes, spaces or a scheme name such as `Basic`.
        case invalidKey
        /// A value for the scheme `basic` doesn't have the form `user:password`.
        case invalidPair
        /// Credentials contain an unexpanded variable such as `${TOKEN}`.
        case unexpandedVariable
        /// Credentials are `user:password` without a scheme.
        case missingScheme
    }

    package enum FileFault: Sendable, Hashable { case missing, forbidden, linkLoop, other }

    /// The purpose of the value, such as `header Authorization` or `the token`.
    package let use: String
    package let source: Source
    package let problem: Problem

    package init(_ use: String, _ source: Source, _ problem: Problem) {
        self.use = use
        self.source = source
        self.problem = problem
    }

    /// Whether the source may be missing only in this process, for example in a shell, while the service has it.
    package var mayConcernThisProcessAlone: Bool { problem == .notSet || problem == .noCredentials }
}

/// The reason why a value of the configuration can't be used.
package enum SettingFault: Sendable, Hashable {
    case unknownPlaceholder(String)
    /// The context has no value for the placeholder.
    case noValue(placeholder: String, AuthorizationContext)
    /// The value isn't an acceptable URL. The text contains the reason and the remedy.
    case invalidURL(ReportedText)
    case noProgram
}

/// The failure of a customer's own provider.
package enum ProviderFault: Sendable, Hashable {
    /// The provider returned neither a token nor an error within this time.
    case silent(Duration)
    case notCalledBack(Duration)
    /// The call timed out before it reached the provider, because an earlier call was still in progress.
    case blockedByEarlierCall(Duration)
    /// The provider hasn't returned from an earlier call.
    case busy
    case emptyAnswer
    /// The provider implements neither form of `fetchToken`.
    case noCompletionForm
    /// The provider reported a cancellation while a caller was waiting.
    case cancellationReported
    /// The provider reported an error of this kind.
    case failed(ReportedText)
}
