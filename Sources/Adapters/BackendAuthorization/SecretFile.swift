import Glibc
import LinuxPlatform
import ReportedText
package import VehicleAuthorization

/// The source of a secret. The source is read again at each use, so that the secret can be changed while the service
/// runs.
package enum Secret: Sendable, Hashable {
    /// The configuration itself, for values that aren't secret.
    case literal(String)
    /// The content of a file, without white space at either end. A file that other users may read or write is rejected.
    case file(String)
    /// An environment variable of this process.
    case environment(String)
    /// A credential that systemd passes to this process as a file.
    case credential(String)

    /// Checks that the secret can be read. Throws the same errors as `text`.
    package func requireReadable(for use: String) throws(AuthorizationError) {
        _ = try text(for: use, environment: ProcessEnvironment.variables)
    }

    /// Returns the secret from its source. `environment` contains the variables of this process. May read a file, so
    /// don't call it on the cooperative thread pool.
    ///
    /// - Throws: `.misconfigured`. The error names the source and `use`, such as `header Authorization`, but never
    ///   contains the secret.
    func text(for use: String, environment: [String: String]) throws(AuthorizationError) -> String {
        switch self {
        case .literal(let text): return text
        case .environment(let variable):
            guard let text = environment[variable], !text.isEmpty else { throw fault(.notSet, for: use) }
            return text
        case .file(let path): return try content(of: path, for: use)
        case .credential(let name):
            let path: String
            do { path = try ServiceCredential.path(of: name, in: environment) } catch {
                throw fault(SourceFault.Problem(error), for: use)
            }
            return try content(of: path, for: use)
        }
    }

    /// The source, in the form that `SourceFault` uses.
    var source: SourceFault.Source {
        switch self {
        case .literal: .literal
        case .file(let path): .file(path)
        case .environment(let name): .variable(name)
        case .credential(let name): .credential(name)
        }
    }

    /// A name for the source in a message, such as `the file /etc/key`.
    var sourceName: String {
        switch self {
        case .literal: "its text"
        case .file(let path): "the file \(path)"
        case .environment(let name): "the environment variable \(name)"
        case .credential(let name): "the credential \(name)"
        }
    }

    private func content(of path: String, for use: String) throws(AuthorizationError) -> String {
        let bytes = try SecretFile.read(path, as: source, for: use, limit: 64 * 1024).bytes
        let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        guard !text.isEmpty else { throw fault(.empty, for: use) }
        return text
    }

    private func fault(_ problem: SourceFault.Problem, for use: String) -> AuthorizationError {
        AuthorizationError(.sourceUnusable(SourceFault(use, source, problem)))
    }
}

extension SourceFault.Problem {
    fileprivate init(_ problem: ServiceCredential.Problem) {
        self =
            switch problem {
            case .invalidName: .invalidCredentialName
            case .noCredentials: .noCredentials
            case .noSuchCredential: .noSuchCredential
            }
    }
}

/// Access to files that contain a secret.
package enum SecretFile {
    /// The content of a file, and the time at which it was written, in seconds since 1970.
    struct Content {
        let bytes: [UInt8]
        let modifiedAt: Double
    }

    /// Checks that a file exists, and that only its owner and group may read or write it. Another library reads the
    /// file later.
    ///
    /// - Throws: `.misconfigured`. The error names the path and `use`, the purpose of the file.
    package static func requireProtected(_ path: String, for use: String) throws(AuthorizationError) {
        _ = try withProtectedFile(path, as: .file(path), for: use) { (_, _) throws(SystemError) in }
    }

    /// Returns the content of a file of at most `limit` bytes. Rejects a file that users other than its owner and group
    /// may read or write. Errors name `source`, or the file if `source` is `nil`.
    ///
    /// Blocks, so don't call it on the cooperative thread pool.
    ///
    /// - Throws: `.misconfigured`. The error names the source and `use`, the purpose of the file.
    static func read(
        _ path: String, as source: SourceFault.Source? = nil, for use: String, limit: Int
    ) throws(AuthorizationError) -> Content {
        let source = source ?? .file(path)
        let content = try withProtectedFile(path, as: source, for: use) {
            (descriptor, modifiedAt) throws(SystemError) in
            Content(bytes: try descriptor.contents(upTo: limit), modifiedAt: modifiedAt)
        }
        guard content.bytes.count <= limit else {
            throw AuthorizationError(.sourceUnusable(SourceFault(use, source, .tooLarge(maximumBytes: limit))))
        }
        return content
    }

    private static func withProtectedFile<Value>(
        _ path: String, as source: SourceFault.Source, for use: String,
        _ body: (borrowing OwnedDescriptor, _ modifiedAt: Double) throws(SystemError) -> Value
    ) throws(AuthorizationError) -> Value {
        var problem: SourceFault.Problem
        do throws(SystemError) {
            let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            var status = stat()
            try valueOrSystemError("read \(path)") { unsafe fstat(descriptor.raw, &status) }
            if status.st_mode & S_IFMT != S_IFREG {
                problem = .notAFile
            } else if status.st_mode & (S_IROTH | S_IWOTH) != 0 {
                // The mode of a file that is mounted into a container is set by the mount, so the remedy is different.
                let isMounted = path.hasPrefix("/run/secrets/") || FileSystem.isReadOnly(at: path)
                problem = .readableByEveryUser(isMounted: isMounted)
            } else {
                return try body(
                    descriptor, Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1_000_000_000)
            }
        } catch { problem = .unreadable(SourceFault.FileFault(errorNumber: error.number), "\(error.reason)") }
        throw AuthorizationError(.sourceUnusable(SourceFault(use, source, problem)))
    }
}

extension SourceFault.FileFault {
    fileprivate init(errorNumber number: CInt) {
        self =
            switch number {
            case ENOENT, ENOTDIR: .missing
            case EACCES, EPERM: .forbidden
            case ELOOP: .linkLoop
            default: .other
            }
    }
}

extension String {
    /// Returns the text without ASCII white space at either end.
    func trimmingWhitespace() -> String {
        String(Substring(utf8.trimming(\.isBlank)))
    }
}

/// Runs `body`, which reads a token or a secret, and returns its result. `body` runs on a dedicated thread, because
/// reading a file may block for long.
///
/// - Throws: the error of `body`, or `.unavailable` if no thread can be created. The error `.unavailable` names `keys`,
///   the settings that need the thread.
func readOnThread<Value: Sendable>(
    named name: String, for keys: String, _ body: @escaping @Sendable () throws(AuthorizationError) -> Value
) async throws(AuthorizationError) -> Value {
    let result = await onThreadIfPossible(named: name) { () -> Result<Value, AuthorizationError> in
        do throws(AuthorizationError) { return .success(try body()) } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): return try value.get()
    case .failure(let error): throw AuthorizationError(.resourcesExhausted(keys, "\(error.reason)"))
    }
}
