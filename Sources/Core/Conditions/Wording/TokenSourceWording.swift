import ReportedText
package import VehicleAuthorization

/// Messages about commands, programs, files, credentials and settings that provide no token.
extension CommandFault {
    static let byHand: ReportedText = "run the command by hand as the service's user"

    func wording(for origin: TokenOrigin) -> Wording {
        switch self {
        case .exited(let status, let output):
            Wording("\(origin) failed with status \(status)\(output.words)", Self.byHand)
        case .signalled(let signal, let output):
            Wording("\(origin) was killed by signal \(signal)\(output.words)", Self.byHand)
        case .timedOut(let limit, let output):
            Wording(
                "\(origin) took longer than \(limit.secondsText) and was killed\(output.words)",
                "\(Self.byHand), or raise \(origin.section).timeoutSeconds")
        case .tooMuchOutput:
            Wording("\(origin) wrote more than 64 KiB", "print the token or a small JSON object")
        case .processStillRunning(let processID):
            Wording(
                "\(origin): its process \(processID) runs as another user and could not be killed",
                "kill process \(processID); the command is started again after that")
        case .processesEnding(let count):
            Wording(
                "\(origin): waiting for \(count) of its processes to end",
                "check whether these processes keep starting others, or wait for a device")
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
    package var wording: Wording {
        let wholePath: ReportedText = "check that the program is installed, and specify its absolute path"
        let otherProgram: ReportedText = "install the build for this machine (uname -m)"
        let interpreter: ReportedText = "install that interpreter, or correct the first line"
        return switch self {
        case .notInPath(let name): Wording("there is no program \(name) in PATH", wholePath)
        case .missing(let path): Wording("there is no \(path)", wholePath)
        case .unexpandedTilde(let path):
            Wording("there is no \(path), because only a shell expands ~", "write the absolute path")
        case .programWithArguments(let program, let line):
            Wording(
                "there is no \(line)",
                """
                write the program and each argument as separate strings: ["\(program)", "argument"]; for a shell, write \
                ["/bin/sh", "-c", "..."]
                """)
        case .notAFile(let path, let kind): Wording("\(path) is \(kind), not a program", "specify a program")
        case .notExecutable(let path): Wording("\(path) is not executable", "run chmod +x \(path)")
        case .forbidden(let path):
            Wording(
                "this user can't execute \(path), or its file system is mounted with noexec",
                "allow this user to execute the program (chmod), or move the program")
        case .builtForOtherProcessor(let path):
            Wording("\(path) is built for another processor architecture", otherProgram)
        case .builtForOtherSystem(let path): Wording("\(path) is built for another operating system", otherProgram)
        case .empty(let path): Wording("\(path) is empty", "install the program again")
        case .byteOrderMark(let path):
            Wording(
                "\(path) begins with a byte order mark, which hides its first line",
                "run sed -i '1s/^\\xEF\\xBB\\xBF//' \(path)")
        case .noInterpreter(let path):
            Wording(
                "\(path) is a script without an interpreter", "begin the script with #!/bin/sh or its own interpreter")
        case .carriageReturn(let path):
            Wording("\(path) has Windows line endings", "run sed -i 's/\\r$//' \(path)")
        case .interpreterMissing(let path, let name):
            Wording("\(path) begins with #!\(name), which is missing or not executable", interpreter)
        case .interpreterNotFound(let path, let line, let name, let directories):
            Wording("\(path) begins with \(line), but there is no \(name) in \(directories)", interpreter)
        case .noNullDevice: Wording("/dev/null is missing", "create it (mknod -m 666 /dev/null c 1 3)")
        case .notStarted(let path, let reason): Wording("\(path) can't be started: \(reason)", "check the program")
        }
    }
}

extension SourceFault {
    package var wording: Wording {
        let place: ReportedText =
            switch source {
            case .literal: "a literal value"
            case .file(let path): "the file \(path)"
            case .variable(let name): "the environment variable \(name)"
            case .credential(let name): "the credential \(name)"
            }
        let wording = problem.wording(of: source)
        return Wording("\(use) comes from \(place), which \(wording.cause)", wording.remedy)
    }
}

extension SourceFault.Problem {
    fileprivate func wording(of source: SourceFault.Source) -> Wording {
        let otherFile: ReportedText = "specify the file that contains the secret"
        switch self {
        case .notSet:
            return Wording("is not set", "set it for the service (Environment= or EnvironmentFile= in the unit)")
        case .invalidCredentialName:
            return Wording("is not a valid credential name", "write the name from the unit, without a directory")
        case .noCredentials:
            return Wording(
                "is missing, because systemd gave this process no credential",
                """
                add the credential to the unit (LoadCredential); outside the service, set \
                CREDENTIALS_DIRECTORY=/run/credentials/waypost.service
                """)
        case .noSuchCredential:
            return Wording(
                "systemd has not provided",
                "add the credential to the unit (LoadCredential or LoadCredentialEncrypted)")
        case .unreadable(let kind, let reason): return Wording("can't be read: \(reason)", kind.remedy)
        case .notAFile: return Wording("is not a file", otherFile)
        case .tooLarge(let bytes): return Wording("is larger than \(bytes) bytes", otherFile)
        case .readableByEveryUser(let isMounted):
            var remedy: ReportedText = "mount it with mode 0440 (Docker: mode, Kubernetes: defaultMode)"
            if case .file(let path) = source, !isMounted { remedy = "run chmod o= \(path)" }
            return Wording("contains a secret and can be read by every user", remedy)
        case .empty: return Wording("is empty", "write the value to it")
        case .serviceAccountKey:
            return Wording(
                "contains a service account's key, which allows any program to sign tokens",
                "keep that key in the backend, and use the key that the backend issued to this vehicle")
        case .notUTF8: return Wording("is not UTF-8 text", "save it as UTF-8")
        case .multipleLines: return Wording("contains more than one line", "write only the value, on one line")
        case .invalidKey:
            return Wording(
                "contains more than a key; the scheme bearer requires only the key",
                "remove any quotes, spaces and scheme name (such as Basic)")
        case .invalidPair: return Wording("isn't a pair, as the scheme basic requires", "write user:password")
        case .unexpandedVariable:
            return Wording(
                "contains a variable in ${}, which is not expanded",
                "write {\"environment\": NAME, \"scheme\": \"bearer\"}")
        case .missingScheme:
            return Wording(
                "contains a user and a password without a scheme", "write {\"file\": PATH, \"scheme\": \"basic\"}")
        }
    }
}

extension SourceFault.FileFault {
    fileprivate var remedy: ReportedText {
        switch self {
        case .missing: "check the path, and the program that writes the file"
        case .forbidden: "make the file readable by the service's group (chgrp waypost, chmod g+r)"
        case .linkLoop: "correct the symbolic link, which points back to itself"
        case .other: "check the disk"
        }
    }
}

extension SettingFault {
    func wording(for key: String) -> Wording {
        switch self {
        case .unknownPlaceholder(let name):
            Wording(
                "\(key) contains the unknown placeholder {\(name)}",
                "use {vehicleId} for a vehicle, {tripId} for a trip, or {providerId}")
        case .noValue(let placeholder, let context):
            Wording("\(key) needs {\(placeholder)}, but the token is for \(context)", "use a placeholder that fits")
        case .invalidURL(let problem): Wording("\(key) \(problem)", "")
        case .noProgram: Wording("\(key) doesn't name a program", "write [\"/path/to/program\"]")
        }
    }
}
