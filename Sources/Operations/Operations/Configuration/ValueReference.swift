import Glibc
import LinuxPlatform
package import StrictJSON

/// The source of a string that isn't in the configuration itself, such as `{"file": PATH}`.
///
/// References let one configuration serve many vehicles, and keep secrets out of it.
package enum ValueReference: Sendable, Hashable, CustomStringConvertible {
    /// A file with one line.
    case file(String)
    /// A variable of this process's environment.
    case environment(String)
    /// A credential that systemd passes to the service.
    case credential(String)

    /// The possible keys of a reference, which has exactly one of them.
    static let keys = ["file", "environment", "credential"]
    /// The three forms, for error messages.
    static let forms = #"{"file": PATH}, {"environment": NAME} or, from systemd, {"credential": NAME}"#

    /// Creates the reference that the members of an object form; `nil` if they don't form one.
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

    /// The reference's key and its value.
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

    /// The reason why there is no text. Its description continues a sentence that begins with the reference's
    /// description, and quotes nothing from the content.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// A text that was found, without its line ending.
    package struct Found: Sendable, Hashable {
        package let text: String
        /// Whether every user of the machine can read the text's file.
        package let isOpenToAll: Bool

        package init(text: String, isOpenToAll: Bool) {
            self.text = text
            self.isOpenToAll = isOpenToAll
        }
    }

    /// Returns the text, which is one line and isn't empty. May read a small file.
    func fetch(environment: [String: String]) throws(Problem) -> Found {
        switch self {
        case .environment(let name):
            // POSIX.1-2017 section 8.1, plus lower-case letters, which shells also accept.
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }),
                name.first?.isNumber == false
            else {
                throw Problem(description: "isn't a variable's name; use letters, digits and _, such as VAN_ID")
            }
            guard let text = environment[name], !text.isEmpty else {
                throw Problem(description: "is not set; set it (for the service, with Environment= in its unit)")
            }
            return Found(text: try Self.line(text), isOpenToAll: false)
        case .credential(let name):
            let path: String
            do { path = try ServiceCredential.path(of: name, in: environment) } catch {
                throw Problem(description: error.description)
            }
            return Found(text: try Self.line(inFile: path), isOpenToAll: false)
        case .file(let path):
            let text = try Self.line(inFile: path)
            let status = try? FileStatus(behind: path)
            let isOpen = status.map { $0.permissions & (S_IROTH | S_IWOTH) != 0 } ?? false
            return Found(text: text, isOpenToAll: isOpen)
        }
    }

    private static func line(inFile path: String) throws(Problem) -> String {
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
        return try line(text)
    }

    /// Returns `text` without a byte order mark and without its line ending.
    private static func line(_ text: String) throws(Problem) -> String {
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
