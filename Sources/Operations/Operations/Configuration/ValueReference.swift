import Glibc
import LinuxPlatform
package import StrictJSON

/// Where a text of the configuration is, when it does not stand there itself: `{"file": PATH}` and its like.
///
/// So one configuration serves all vehicles, and secrets lie where they are kept best.
package enum ValueReference: Sendable, Hashable, CustomStringConvertible {
    /// One line in a file.
    case file(String)
    /// A variable of this process's environment.
    case environment(String)
    /// What systemd hands to the service.
    case credential(String)

    /// The keys of such an object, one of which it has.
    static let keys = ["file", "environment", "credential"]
    /// How they are written, for errors.
    static let forms = #"{"file": PATH} or {"environment": NAME}, or from systemd {"credential": NAME}"#

    /// `nil` when `members` are anything else.
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

    /// What kind of place it is, as its key says, and which.
    package var parts: (key: String, name: String) {
        switch self {
        case .file(let path): ("file", path)
        case .environment(let name): ("environment", name)
        case .credential(let name): ("credential", name)
        }
    }

    /// As a sentence names it.
    package var description: String {
        switch self {
        case .file(let path): "the file \(path)"
        case .environment(let name): "the environment variable \(name)"
        case .credential(let name): "the credential \(name)"
        }
    }

    /// Why there is no text there; what it says goes behind the place, and repeats nothing of what is there.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// A text, without the end of its line; whether every user of the machine may read it.
    package struct Found: Sendable, Hashable {
        package let text: String
        package let isOpenToAll: Bool

        package init(text: String, isOpenToAll: Bool) {
            self.text = text
            self.isOpenToAll = isOpenToAll
        }
    }

    /// Fetches the text: one line, not empty. May read a small file.
    func fetch(environment: [String: String]) throws(Problem) -> Found {
        switch self {
        case .environment(let name):
            // POSIX.1-2017 section 8.1, and small letters, which shells take too.
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }),
                name.first?.isNumber == false
            else {
                throw Problem(description: "cannot be one; write its name alone, of letters, digits and _, as VAN_ID")
            }
            guard let text = environment[name], !text.isEmpty else {
                throw Problem(description: "is not set; set it, for the service with Environment= in its unit")
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
                    "is not there; write the value to it, or correct the path"
                case .system(let cause) where cause.number == EACCES:
                    "may not be read by this user; let the service's group read it, as with chgrp waypost and chmod g+r"
                case .system: "\(error)"
                case .notAFile, .tooLarge: "\(error); name the file that holds the value"
                }
            throw Problem(description: reason)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(description: "is not UTF-8 text; save it as UTF-8")
        }
        return try line(text)
    }

    /// `text` without a byte order mark and the end of its line.
    private static func line(_ text: String) throws(Problem) -> String {
        var line = text.unicodeScalars[...]
        if line.first == "\u{FEFF}" { line.removeFirst() }
        if line.last == "\n" { line.removeLast() }
        if line.last == "\r" { line.removeLast() }
        guard !line.isEmpty else { throw Problem(description: "is empty; write the value to it") }
        guard !line.contains("\n") else {
            throw Problem(description: "holds several lines; leave only the value in it")
        }
        guard !line.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Problem(description: "holds a control character; leave it out")
        }
        return String(line)
    }
}
