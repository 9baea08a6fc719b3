import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

@Suite struct ProcessStarts {
    @Test(arguments: [
        "SSLKEYLOGFILE", "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
        "OPENSSL_ia32cap", "GNUTLS_SYSTEM_PRIORITY_FILE", "CURL_CA_BUNDLE", "CURL_SSL_BACKEND", "CURL_HOME", "NETRC",
        "http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "HOSTALIASES",
        "LOCALDOMAIN", "RESOLV_HOST_CONF", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "MALLOC_PERTURB_", "SQLITE_TMPDIR",
    ])
    func removeVariablesThatChangeTLSOrProxiesOrMemory(name: String) {
        #expect(UnwantedVariable.all.filter { $0.matches(name) }.count == 1)
    }

    @Test(arguments: [
        "PATH", "HOME", "TZ", "LANG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM", "CREDENTIALS_DIRECTORY",
        "SWIFT_BACKTRACE", "RES_OPTIONS", "MY_PROXY_PASSWORD", "WAYPOST_KEY", "LD_PRELOAD", "CURLY", "",
    ])
    func keepOtherVariables(name: String) {
        #expect(!UnwantedVariable.all.contains { $0.matches(name) })
    }

    @Test(
        arguments: [
            (
                8 << 20, 10,
                "raise the limit of the user's processes, which is 10 (ulimit -u, LimitNPROC=), or that of the "
                    + "control group (TasksMax=)"
            ),
            (
                8 << 20, -1,
                "raise the limit of the user's processes (ulimit -u, LimitNPROC=), or that of the control group "
                    + "(TasksMax=)"
            ),
            (
                1 << 40, -1,
                "reduce the stack of 1048576 MiB that each requires (ulimit -s, LimitSTACK=); if that does not "
                    + "help, raise the limit of the user's processes (ulimit -u, LimitNPROC=), or that of the control "
                    + "group (TasksMax=)"
            ),
        ])
    func nameTheLimitsThatPreventThreads(stack: Int, processLimit: Int, remedy: String) {
        #expect(
            StartRequirements.threadShortageMessage(started: 3, processLimit: processLimit, stack: stack)
                == "too few threads can be started: at least 24 are needed, but only 3 started; " + remedy)
    }

    /// A seccomp filter older than clone3 answers EPERM; with ENOSYS the C library would use clone.
    @Test func nameAContainerRuntimeThatRejectsThreads() {
        let message = StartRequirements.threadShortageMessage(
            started: 0, reason: EPERM, processLimit: -1, stack: 8 << 20)
        #expect(
            message
                == "no thread can be started: Operation not permitted; this container's runtime is older than the system "
                + "call clone3 and rejects it; update the runtime (Docker 20.10.10 with libseccomp 2.5, or newer)")
    }

    /// A reload may be requested before the main thread waits for signals.
    @Test func keepAHangupPendingUntilTheServiceRuns() async {
        let received = await onThread(named: "hangup") { () -> CInt in
            ProcessStart.blockHangup()
            raise(SIGHUP)
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGHUP)
            var received: CInt = 0
            unsafe sigwait(&signals, &received)
            return received
        }
        #expect(received == SIGHUP)
    }

    @Test func giveAReasonForEachUnwantedVariable() {
        #expect(UnwantedVariable.all.allSatisfy { !$0.reason.isEmpty })
    }

    @Test(
        arguments: [
            ("4711 (sh) S 12 4711 4711 0", 12), ("1 (a) b) R 3) Z 7 1", 7), ("1 ((sd-pam)) S 1 1", 1), ("", nil),
            ("17 (x)", nil), ("17 x S 3", nil),
        ] as [(String, pid_t?)])
    func findTheParentOfAProcess(line: String, parent: pid_t?) {
        #expect(Descendant(status: line)?.parent == parent)
    }

    @Test func identifyAProcessByItsStateAndStart() {
        let line = "77 (a) b) R 1) T 12 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 918273 1 2"
        #expect(
            Descendant(status: line) == Descendant(processID: 77, parent: 12, state: "T", startTime: 918_273))
    }

    @Test func findDescendantsAfterTheirParents() {
        let parents: [(pid_t, pid_t)] = [(5, 4), (4, 1), (3, 2), (2, 1), (9, 8), (8, 9), (1, 0), (7, 3)]
        let found = Descendant.all(of: 1, among: parents.map { Descendant(processID: $0.0, parent: $0.1) })
        #expect(Set(found.map(\.processID)) == [2, 3, 4, 5, 7])
        for (place, process) in found.enumerated() where process.parent != 1 {
            #expect(found[..<place].contains { $0.processID == process.parent })
        }
    }

    /// The states by process id, as letters of proc(5); whether the sweep is urgent; and the ids that are stopped or
    /// killed.
    @Test(
        arguments: [
            ("", false, [], []), ("", true, [], []), ("S", false, [1], []), ("RTS", false, [1, 3], []),
            ("TtZD", false, [], [1, 2, 3, 4]), ("ZS", false, [2], []), ("ZS", true, [], [1, 2]), ("Z", false, [], [1]),
            ("?", false, [], [1]),
        ] as [(String, Bool, [pid_t], [pid_t])])
    func stopAllProcessesBeforeKillingThem(states: String, isUrgent: Bool, stopped: [pid_t], killed: [pid_t]) {
        let found = states.enumerated().map { offset, state in
            Descendant(processID: pid_t(offset + 1), parent: 0, state: state == "?" ? nil : state)
        }
        let step = SweepStep(for: found, isUrgent: isUrgent)
        switch step {
        case .done: #expect(stopped.isEmpty && killed.isEmpty)
        case .stop(let processes): #expect(processes.map(\.processID) == stopped && killed.isEmpty)
        case .kill(let processes): #expect(processes.map(\.processID) == killed && stopped.isEmpty)
        }
    }
}

@Suite struct BoundedFiles {
    @Test func areReadCompletelyUpToTheirLimit() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write([1, 2, 3], to: "file")
        #expect(try BoundedFile.contents(of: path, limit: 3) == [1, 2, 3])
        #expect(throws: BoundedFile.Refusal.tooLarge(limit: 2)) { try BoundedFile.contents(of: path, limit: 2) }
    }

    /// Kernel files report no size and may be long.
    @Test func areNotReadBeyondTheirLimitRegardlessOfTheirSize() {
        #expect(throws: BoundedFile.Refusal.tooLarge(limit: 10)) {
            try BoundedFile.contents(of: "/proc/self/status", limit: 10)
        }
    }

    @Test func mustBeRegularFiles() throws {
        let directory = try TemporaryDirectory()
        let pipe = directory.path("pipe")
        try valueOrSystemError("make pipe") { unsafe mkfifo(pipe, 0o600) }
        let others: [(String, FileStatus.Kind)] = [
            (pipe, .fifo), (FileSystem.parent(of: pipe), .directory), ("/dev/zero", .device),
        ]
        for (path, kind) in others {
            #expect(throws: BoundedFile.Refusal.notAFile(kind)) { try BoundedFile.contents(of: path, limit: 10) }
        }
        let error = #expect(throws: BoundedFile.Refusal.self) {
            try BoundedFile.contents(of: directory.path("none"), limit: 10)
        }
        #expect(error?.description == "cannot be read: No such file or directory")
    }
}
