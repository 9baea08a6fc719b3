import ReportedText
package import VehicleAuthorization

/// Commands, programs, files, credentials and settings that give no token, in words.
extension CommandFault {
    func wording(for origin: TokenOrigin) -> Wording {
        let byHand: ReportedText = "run it by hand as the service's user"
        switch self {
        case .exited(let status, let output):
            return Wording("\(origin) failed with status \(status)\(output.words)", byHand)
        case .signalled(let signal, let output):
            return Wording("\(origin) was ended by signal \(signal)\(output.words)", byHand)
        case .timedOut(let limit, let output):
            return Wording(
                "\(origin) took longer than \(limit.secondsText) and was ended\(output.words)",
                "\(byHand), or raise \(origin.section).timeoutSeconds")
        case .tooMuchOutput:
            return Wording("\(origin) wrote more than 64 KiB", "print the token or a small JSON object")
        case .stillRuns(let processID):
            return Wording(
                "\(origin): its process \(processID) could not be ended, because it runs as another user",
                "end process \(processID); the command is started again when it has ended")
        case .isBeingEnded(let count):
            return Wording(
                "\(origin): \(count) of its processes are still being ended",
                "check whether they start others without end, or wait for a device")
        }
    }
}

extension CommandFault.Output {
    fileprivate var words: ReportedText {
        if let first = lines.first { return lines.count > 1 ? ": \(first) (also: \(lines[1]))" : ": \(first)" }
        return hasOutput
            ? ", with nothing on standard error (its standard output may be a token, and is not shown)"
            : ", with nothing on standard error"
    }
}

extension ProgramFault {
    /// What is wrong, and what to do.
    package var wording: Wording {
        switch self {
        case .notInPath(let name):
            Wording("there is no program \(name) in PATH", "write its whole path, from / on")
        case .missing(let path):
            Wording("there is no \(path)", "check the path, and that the program is installed")
        case .commandLine(let program, let line):
            Wording(
                "there is no \(line)",
                """
                write the program and each argument as separate texts: ["\(program)", "argument"]; no shell reads \
                them, so for one write ["/bin/sh", "-c", "..."]
                """)
        case .homePath(let path):
            Wording("there is no \(path), because only a shell reads ~ as a home", "write the whole path, from / on")
        case .notAFile(let path, let kind): Wording("\(path) is \(kind), not a program", "name a program")
        case .notExecutable(let path): Wording("\(path) cannot be executed", "run chmod +x \(path)")
        case .forbidden(let path):
            Wording(
                "\(path) may not be executed by this user, or is on a file system without programs (noexec)",
                "allow it for that user (chmod), or move it")
        case .otherProcessor(let path):
            Wording("\(path) is made for another kind of processor", "install the one for this machine (uname -m)")
        case .otherSystem(let path):
            Wording(
                "\(path) is made for another system, whose loader is missing here",
                "install the one for this machine (file \(path) names the loader)")
        case .empty(let path): Wording("\(path) is empty", "install the program again")
        case .byteOrderMark(let path):
            Wording(
                "\(path) begins with a byte order mark, which hides its first line from the kernel",
                "run sed -i '1s/^\\xEF\\xBB\\xBF//' \(path)")
        case .noInterpreter(let path):
            Wording("\(path) is a script without an interpreter", "make its first line #!/bin/sh, or its own language")
        case .carriageReturn(let path):
            Wording(
                "\(path) has the line ends of Windows, which become part of the interpreter's name",
                "run sed -i 's/\\r$//' \(path)")
        case .interpreterMissing(let path, let interpreter):
            Wording(
                "\(path) begins with #!\(interpreter), which is missing or cannot be executed",
                "install it, or correct the first line")
        case .interpreterNotFound(let path, let firstLine, let name, let directories):
            Wording(
                "\(path) begins with \(firstLine), and there is no \(name) in \(directories)",
                "install it, or correct the first line")
        case .noNullDevice: Wording("/dev/null is missing", "make it (mknod -m 666 /dev/null c 1 3)")
        case .notStarted(let path, let reason): Wording("\(path) cannot be started: \(reason)", "check it")
        }
    }
}

extension SourceFault {
    /// What is wrong, and what to do.
    package var wording: Wording {
        let place: ReportedText =
            switch source {
            case .literal: "its text"
            case .file(let path): "the file \(path)"
            case .variable(let name): "the environment variable \(name)"
            case .credential(let name): "the credential \(name)"
            }
        func fault(_ end: ReportedText, _ remedy: ReportedText) -> Wording {
            Wording("\(use) comes from \(place), which \(end)", remedy)
        }
        switch problem {
        case .notSet:
            return fault("is not set", "set it for the service (Environment= or EnvironmentFile= in the unit)")
        case .notAName: return fault("is no credential's name", "write the name in the unit, without a directory")
        case .noCredentials:
            return fault(
                "is missing, because systemd gave this process no credential",
                """
                name it in the unit (LoadCredential); outside the service set \
                CREDENTIALS_DIRECTORY=/run/credentials/waypost.service
                """)
        case .noSuchCredential:
            return fault(
                "systemd has not provided", "name it in the unit (LoadCredential or LoadCredentialEncrypted)")
        case .unreadable(let kind, let reason):
            let remedy: ReportedText =
                switch kind {
                case .missing: "check the path, and the program that writes the file"
                case .forbidden: "let the service's group read it, such as with chgrp waypost and chmod g+r"
                case .linkLoop: "the link leads back to itself: make it lead to the file"
                case .other: "check the disk"
                }
            return fault("cannot be read: \(reason)", remedy)
        case .notAFile: return fault("is not a file", "name the file that holds the secret")
        case .openToEveryUser(let isMounted):
            let remedy: ReportedText =
                if case .file(let path) = source, !isMounted {
                    "run chmod o= \(path)"
                } else {
                    "mount it with mode 0440 (mode of a Docker secret, defaultMode of a Kubernetes volume)"
                }
            return fault("holds a secret and is open to every user", remedy)
        case .tooLarge(let bytes):
            return fault("is larger than \(bytes) bytes", "name the file that holds the secret")
        case .empty: return fault("is empty", "write the value to it")
        case .serviceAccountKey:
            return fault(
                "holds the key of a service account, with which any program can sign tokens",
                "keep it in the backend, and name the key that the backend gave this vehicle")
        case .notUTF8: return fault("is not text in UTF-8, perhaps UTF-16", "write it again in UTF-8")
        case .severalLines: return fault("has more than one line", "write the value alone, in one line")
        case .notAKey:
            return fault(
                "doesn't hold a key alone, as the scheme bearer requires",
                "remove quotes, spaces and the word of another scheme (Basic)")
        case .notAPair: return fault("isn't a pair, as the scheme basic requires", "write user:password")
        case .unfilledVariable:
            return fault(
                "has a variable in ${}, which nothing fills in",
                "write {\"environment\": NAME, \"scheme\": \"bearer\"}")
        case .noScheme:
            return fault(
                "has a user and a password without a scheme", "write {\"file\": PATH, \"scheme\": \"basic\"}")
        }
    }
}

extension SettingFault {
    func wording(for key: String) -> Wording {
        switch self {
        case .unknownPlaceholder(let name):
            Wording(
                "\(key) has the placeholder {\(name)}",
                "use {vehicleId} for a vehicle, {tripId} for a trip, or {providerId}")
        case .noValue(let placeholder, let context):
            Wording(
                "\(key) asks for {\(placeholder)}, but the token is for \(context)",
                "use a placeholder that it has")
        case .invalidURL(let problem): Wording("\(key) \(problem)", "")
        case .noProgram: Wording("\(key) names no program", "write [\"/path/to/it\"]")
        }
    }
}
