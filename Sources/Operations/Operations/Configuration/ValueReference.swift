import Glibc
import LinuxPlatform
package import StrictJSON

/// A reference to a string that is stored outside the configuration, such as `{"file": PATH}`.
///
/// With references, many vehicles can share one configuration, and secrets needn't be in it.
package enum ValueReference: Sendable, Hashable, CustomStringConvertible {
    /// A file that contains one line.
    case file(String)
    /// A variable in this process's environment.
    case environment(String)
    /// A credential that systemd passes to the service.
    case credential(String)

    /// The keys that a reference may have. Each reference has exactly one of them.
    static let keys = ["file", "environment", "credential"]
    /// The three forms of a reference, for use in error messages.
    static let forms = #"{"file": PATH}, {"environment": NAME} or, from systemd, {"credential": NAME}"#

    /// Creates a reference from the members of a JSON object; `nil` if they don't form a reference.
    package init?(_ members: [String: JSONValue]) {
        guard members.count == 1, let (key, value) = members.first, case .string(let name) = value, !name.isEmpty else {
            return nil
        }
        switch key {
        case "file": self = .file(name)
        case "environment": self = .environment(name)
        case "credential": self = .credential(name)
        default: return nil
        }
    }

    /// The only key of the reference's JSON object, and the value of that key.
    package var parts: (key: String, name: String) {
        switch self {
        case .file(let path): ("file", path)
        case .environment(let name): ("environment", name)
        case .credential(let name): ("credential", name)
        }
    }

    /// A description for use in a sentence, such as `the file /etc/vehicle-id`.
    package var description: String {
        switch self {
        case .file(let path): "the file \(path)"
        case .environment(let name): "the environment variable \(name)"
        case .credential(let name): "the credential \(name)"
        }
    }

    /// The reason why the reference can't be resolved. Its description continues a sentence that begins with the
    /// reference's description. It quotes nothing from the file or variable.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The string that a reference refers to, without its line ending.
    package struct Found: Sendable, Hashable {
        package let text: String
        /// Whether the string comes from a file that every user of the machine can read.
        package let isWorldReadable: Bool

        package init(text: String, isWorldReadable: Bool) {
            self.text = text
            self.isWorldReadable = isWorldReadable
        }
    }

    /// Returns the string that this reference refers to, which is a single, non-empty line. If the reference is to a
    /// file or a credential, reads that file.
    func fetch(environment: [String: String]) throws(Problem) -> Found {
        switch self {
        case .environment(let name):
            // These characters are allowed by POSIX.1-2017 section 8.1, except for lower-case letters, which shells
            // also accept.
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }),
                name.first?.isNumber == false
            else {
                throw Problem(description: "isn't a variable's name; use letters, digits and _, such as VAN_ID")
            }
            guard let text = environment[name], !text.isEmpty else {
                throw Problem(description: "is not set; set it (for the service, with Environment= in its unit)")
            }
            return Found(text: try Self.singleLine(in: text), isWorldReadable: false)
        case .credential(let name):
            let path: String
            do { path = try ServiceCredential.path(of: name, in: environment) } catch {
                throw Problem(description: error.description)
            }
            return Found(text: try Self.singleLine(inFile: path), isWorldReadable: false)
        case .file(let path):
            let text = try Self.singleLine(inFile: path)
            let status = try? FileStatus(followingLinksAt: path)
            let isOpen = status.map { $0.permissions & (S_IROTH | S_IWOTH) != 0 } ?? false
            return Found(text: text, isWorldReadable: isOpen)
        }
    }

    private static func singleLine(inFile path: String) throws(Problem) -> String {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 64 << 10) } catch {
            let reason =
                switch error {
                case .system(let cause) where cause.number == ENOENT || cause.number == ENOTDIR:
                    "doesn't exist; write the value to it, or correct the path"
                case .system(let cause) where cause.number == EACCES:
                    "this user cannot read; make it readable by the service's group: chgrp waypost \(path) and chmod "
                        + "g+r \(path)"
                case .system: "\(error)"
                case .notAFile, .tooLarge: "\(error); use the file that contains the value"
                }
            throw Problem(description: reason)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(description: "is not UTF-8 text; save it as UTF-8")
        }
        return try singleLine(in: text)
    }

    /// Returns `text` without a byte order mark and without its line ending. Throws if it is empty or has several
    /// lines.
    private static func singleLine(in text: String) throws(Problem) -> String {
        var line = text.unicodeScalars[...]
        if line.first == "\u{FEFF}" { line.removeFirst() }
        if line.last == "\n" { line.removeLast() }
        if line.last == "\r" { line.removeLast() }
        guard !line.isEmpty else { throw Problem(description: "is empty; write the value to it") }
        guard !line.contains("\n") else {
            throw Problem(description: "contains several lines; leave only the value in it")
        }
        guard !line.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Problem(description: "contains a control character; remove it")
        }
        return String(line)
    }
}
