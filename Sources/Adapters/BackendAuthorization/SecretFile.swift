import Glibc
import LinuxPlatform
import ReportedText
package import VehicleAuthorization

/// Where a secret comes from; read again each time, so that it can be changed while the service runs.
package enum Secret: Sendable, Hashable {
    /// In the configuration itself; meant for values that are no secret.
    case literal(String)
    /// The content of a file, without white space around it; rejected when others may read it.
    case file(String)
    /// An environment variable of this process.
    case environment(String)
    /// A credential that systemd hands to this process; its content as that of a file.
    case credential(String)

    /// Fetches the text, and nothing else; see `text`. A variable that is not set, and a credential where there are
    /// none, is `.missingContext` here: it may be there for the service alone.
    package func prove(for use: String) throws(AuthorizationError) {
        let environment = ProcessEnvironment.variables
        do throws(AuthorizationError) { _ = try text(for: use, environment: environment) } catch {
            switch self {
            case .environment:
                throw AuthorizationError(.missingContext, "\(error.detail) here; the service must have it")
            case .credential where !ServiceCredential.isGiven(in: environment):
                throw AuthorizationError(.missingContext, error.detail)
            case .literal, .file, .credential: throw error
            }
        }
    }

    /// The text itself, from a file, `environment`, a credential or the configuration. May read a file; not for the
    /// shared pool.
    ///
    /// - Throws: `.misconfigured`, naming `use` (as `header Authorization`) and source and never the text.
    func text(for use: String, environment: [String: String]) throws(AuthorizationError) -> String {
        switch self {
        case .literal(let text): return text
        case .environment(let variable):
            guard let text = environment[variable], !text.isEmpty else {
                throw AuthorizationError(
                    .misconfigured,
                    "\(use) takes its value from the environment variable \(variable), which is not set")
            }
            return text
        case .file(let path): return try Self.content(of: path, as: "the file for \(use),")
        case .credential(let name):
            let path: String
            do { path = try ServiceCredential.path(of: name, in: environment) } catch {
                throw AuthorizationError(
                    .misconfigured, "\(use) takes its value from the credential \(name), which \(error)")
            }
            return try Self.content(of: path, as: "the credential for \(use),")
        }
    }

    /// Where it stands, for messages.
    var source: String {
        switch self {
        case .literal: "its text"
        case .file(let path): "the file \(path)"
        case .environment(let name): "the environment variable \(name)"
        case .credential(let name): "the credential \(name)"
        }
    }

    private static func content(of path: String, as role: String) throws(AuthorizationError) -> String {
        let bytes = try SecretFile.read(path, as: role, limit: 64 * 1024).bytes
        let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
        guard !text.isEmpty else {
            throw AuthorizationError(.misconfigured, "\(role) \(path), is empty; write the value to it")
        }
        return text
    }
}

/// Files that hold a secret.
package enum SecretFile {
    /// What was read, and when the file was written, in seconds since 1970.
    struct Content {
        let bytes: [UInt8]
        let modifiedAt: Double
    }

    /// Whether a file that libcurl will read (a client's key) is there and closed to other users.
    ///
    /// - Throws: `.misconfigured`, beginning with `role` and the path, with the remedy.
    package static func require(_ path: String, as role: String) throws(AuthorizationError) {
        _ = try access(path, role) { (_, _) throws(SystemError) in }
    }

    /// Reads a file that only its owner and group may read.
    ///
    /// Blocks; not for the shared pool.
    /// - Throws: `.misconfigured`, beginning with `role` and the path, with the remedy.
    static func read(_ path: String, as role: String, limit: Int) throws(AuthorizationError) -> Content {
        let content = try access(path, role) { (descriptor, modifiedAt) throws(SystemError) in
            Content(bytes: try descriptor.contents(upTo: limit), modifiedAt: modifiedAt)
        }
        guard content.bytes.count <= limit else {
            throw AuthorizationError(
                .misconfigured,
                "\(named(path, role)) is larger than \(limit) bytes; name the file that holds the secret")
        }
        return content
    }

    /// What begins with a comma ends with one.
    private static func named(_ path: String, _ role: String) -> String {
        "\(role) \(path)\(role.hasSuffix(",") ? "," : "")"
    }

    private static func access<Value>(
        _ path: String, _ role: String,
        _ body: (borrowing OwnedDescriptor, _ modifiedAt: Double) throws(SystemError) -> Value
    ) throws(AuthorizationError) -> Value {
        let name = named(path, role)
        do {
            let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
            var status = stat()
            try valueOrSystemError("read \(path)") { unsafe fstat(descriptor.raw, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw AuthorizationError(
                    .misconfigured, "\(name) is not a file; name the file that holds the secret")
            }
            guard status.st_mode & (S_IROTH | S_IWOTH) == 0 else {
                throw AuthorizationError(
                    .misconfigured, "\(name) holds a secret and is open to every user; \(closing(path))")
            }
            return try body(
                descriptor, Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1_000_000_000)
        } catch let error as AuthorizationError {
            throw error
        } catch let error as SystemError {
            throw AuthorizationError(
                .misconfigured, "\(name) cannot be read: \(error.reason); \(remedy(for: error.number))")
        } catch {
            throw AuthorizationError(.misconfigured, "\(name) cannot be read")
        }
    }

    /// The way to close a file. One that is mounted into a container gets its mode there.
    private static func closing(_ path: String) -> String {
        let isMounted = path.hasPrefix("/run/secrets/") || FileSystem.isReadOnly(at: path)
        return isMounted
            ? "mount it with mode 0440 (mode of a Docker secret, defaultMode of a Kubernetes volume)"
            : "run chmod o= \(path)"
    }

    private static func remedy(for number: CInt) -> String {
        switch number {
        case ENOENT, ENOTDIR: "check the path, and whoever writes the file"
        case EACCES, EPERM: "let the service's group read it, as with chgrp waypost and chmod g+r"
        case ELOOP: "the link leads back to itself: let it lead to the file"
        default: "check the disk"
        }
    }
}

extension String {
    /// Without ASCII white space at either end.
    func trimmingWhitespace() -> String {
        String(Substring(utf8.trimming(\.isBlank)))
    }
}

/// Reads what a token or a secret is made of on a thread of its own, as files may hang.
///
/// - Throws: `.unavailable` when the system has no room for a thread now.
func readOnThread<Value: Sendable>(
    named name: String, for purpose: String, _ body: @escaping @Sendable () throws(AuthorizationError) -> Value
) async throws(AuthorizationError) -> Value {
    let result = await onThreadIfAny(named: name) { () -> Result<Value, AuthorizationError> in
        do throws(AuthorizationError) { return .success(try body()) } catch { return .failure(error) }
    }
    switch result {
    case .success(let value): return try value.get()
    case .failure(let error):
        throw AuthorizationError(.unavailable, "\(purpose) cannot be read now: \(error.outOfResources)")
    }
}

extension SystemError {
    /// For a process or thread that the system has no room for: which limits to raise.
    var outOfResources: String {
        "\(reason); if it stays so, raise the limits of processes and memory (ulimit -u, -v and -d, TasksMax=)"
    }
}
