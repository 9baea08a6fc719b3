import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// Processes of a token command that leave its process group, tested with the real program.
@Suite(.timeLimit(.minutes(1))) struct StrayProcesses {
    /// Scripts whose stray process writes its id to `STRAY`, prints `UP`, and sleeps longer than a test may take.
    @Test(arguments: [
        // The command itself joins its parent's group, so its own group is empty.
        #"exec perl -e 'setpgrp(0, getpgrp(getppid)); open F, ">", "STRAY"; print F $$; close F; sleep 45'"#,
        // The process has its own session, and the command doesn't wait for it.
        #"setsid sh -c 'echo $$ >STRAY; echo >UP; exec sleep 45' & read up <UP; exit 3"#,
        // The process has its own session, has lost its parent, and holds the command's output open.
        #"(setsid sh -c 'setsid sh -c "echo \$\$ >STRAY; echo >UP; exec sleep 45" &' &); read up <UP; exit 3"#,
        // The stray process has its own session, and the command exceeds its timeout.
        #"(setsid sh -c 'echo $$ >STRAY; exec sleep 45' &); exec sleep 45"#,
        "set -m; sh -c 'echo $$ >STRAY; exec sleep 45' & wait",
    ])
    func endWithTheCommandAtItsTimeout(script: String) async throws {
        let directory = try TemporaryDirectory()
        let config = try configure(script, in: directory)
        let start = ContinuousClock.now
        let outcome = try await BuiltProgram.run(["token", "--config", config])
        let took = start.duration(to: .now)
        #expect(outcome.ending == .exited(69))
        let words = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(words.hasPrefix("waypost: token command /bin/sh "), "\(words)")
        #expect(took < .seconds(20), "took \(took)")
        try expectNoStrayProcess(in: directory)
    }

    @Test func endWithTheService() async throws {
        let directory = try TemporaryDirectory()
        let config = try configure(
            "(setsid sh -c 'echo $$ >STRAY; echo >UP; exec sleep 45' &); read up <UP; echo >SEEN; exec sleep 45",
            in: directory, timeout: 60)
        let seen = try LineFlow(namedPipe: directory.path("SEEN"))
        let receiver = try PluggedReceiver(link: ServiceSetup.device(in: directory))
        let service = try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", config], environment: BuiltProgram.environment)
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        for epoch in RecentDrive(epochs: 1) { try receiver.send(epoch) }
        try #require(await seen.wait { !$0.isEmpty })
        let (ending, took) = await service.terminate()
        #expect(ending == .exited(0))
        #expect(took < .seconds(9))
        try expectNoStrayProcess(in: directory)
    }

    /// Only root can kill a process that has become root. The number of such processes must not grow with each attempt.
    @Test(.enabled(if: geteuid() == 0, "only root can make a set-user-id program"), arguments: [0, 2])
    func preventTheCommandFromStartingIfTheyBelongToAnotherUser(hidden: Int) async throws {
        let directory = try TemporaryDirectory()
        let becomeRoot = directory.path("become-root")
        try FileManager.default.copyItem(atPath: "/usr/bin/setpriv", toPath: becomeRoot)
        unsafe chmod(becomeRoot, 0o4755)
        let seen = try LineFlow(namedPipe: directory.path("SEEN"))
        let config = try configure(
            "setsid \(becomeRoot) --reuid 0 sh -c 'echo $$ >STRAY; echo >UP; exec sleep 45' & read up <UP; echo >SEEN; "
                + "exit 3", in: directory)
        for name in ["", "UP", "SEEN"] { unsafe chown(directory.path(name), 64_999, 64_999) }
        let service = try RunningProgram(
            [
                "/usr/bin/unshare", "--mount", "sh", "-c", #"mount -t proc -o "hidepid=$0" proc /proc; exec "$@""#,
                "\(hidden)",
            ] + BuiltProgram.command(asUser: 64_999)
                + [
                    "replay", Fixtures.url("nmea/tunnel.nmea").path, "--config", config, "--outbox",
                    directory.path("outbox.sqlite"), "--speed", "max",
                ],
            environment: BuiltProgram.environment)

        try #require(await service.errors.line(saying: "left process") != nil)
        let first = try strayID(in: directory)
        #expect(
            service.errors.text.contains(
                "token command /bin/sh left process \(first) running; the command is not started again until that "
                    + "process has ended; change the command so that it stops the processes that it starts; then "
                    + "kill process \(first)"))
        #expect(
            await service.errors.line(saying: "token command /bin/sh: its process \(first) runs as another user") != nil
        )
        #expect(seen.lines.count == 1)
        #expect(kill(first, SIGKILL) == 0)
        #expect(await seen.wait { $0.count == 2 })
        let second = try strayID(in: directory)
        #expect(second != first)
        #expect(service.errors.text.split(separator: "/bin/sh left process").count == 2)
        await service.terminate()
        #expect(kill(second, SIGKILL) == 0)
    }

    /// Every killed process is replaced by a new one, so all must be stopped before the first is killed.
    ///
    /// The limit is that of a user without other processes. If the test fails, the processes end by themselves.
    @Test(.enabled(if: geteuid() == 0, "only root can become a user with a limit on processes"))
    func endWithTheCommandEvenIfTheyForkEndlessly() async throws {
        let user = 64_995
        let directory = try TemporaryDirectory()
        let storm =
            #"$SIG{TERM} = "IGNORE"; $end = time + 20; "#
            + #"while (time < $end) { $p = fork; if (!defined $p) { select undef, undef, undef, .01 } "#
            + #"elsif (!$p) { setsid } }"#
        let config = try configure("exec perl -MPOSIX -e '\(storm)'", in: directory)
        for name in ["", "UP"] { unsafe chown(directory.path(name), uid_t(user), uid_t(user)) }
        let outcome = try await ChildProcess(
            arguments: [
                "/bin/sh", "-c", #"prlimit --nproc=120 --pid $$; exec "$@""#, "sh",
            ] + BuiltProgram.command(asUser: user) + ["token", "--config", config],
            environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        let left = try await ChildProcess(
            arguments: ["find", "/proc", "-maxdepth", "1", "-user", "\(user)", "-name", "[1-9]*"],
            environment: ["PATH": "/usr/bin:/bin"], timeLimit: BuiltProgram.hangTimeout
        ).run()
        // This ends all processes of the user.
        _ = try await ChildProcess(
            arguments: ["setpriv", "--reuid", "\(user)", "--clear-groups", "perl", "-e", #"kill "KILL", -1"#],
            environment: ["PATH": "/usr/bin:/bin"], timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(left.standardOutput.isEmpty, "processes were left behind")
        #expect(outcome.ending == .exited(69))
        let words = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(words.contains("token command /bin/sh took longer than 1 s and was killed"), "\(words)")
        #expect(!words.contains("running"), "\(words)")
    }

    /// Process ids from the `/proc` of another namespace would hide every stray process, and other processes could be
    /// killed.
    @Test(.enabled(if: geteuid() == 0, "only root can make a namespace"))
    func areLeftToTheSystemIfProcBelongsToAnotherNamespace() async throws {
        let directory = try TemporaryDirectory()
        let seen = try LineFlow(namedPipe: directory.path("SEEN"))
        let config = try configure(
            #"perl -e '$p = $$; exit if fork; setpgrp; select undef, undef, undef, .01 while getppid == $p; "#
                + #"open F, ">", $_ and print F getppid, "\n" and close F for "SEEN", "UP"'; read up <UP; exit 3"#,
            in: directory, timeout: 30)
        let service = try RunningProgram(
            [
                "/usr/bin/unshare", "--pid", "--fork", "--kill-child", "sh", "-c",
                // The service must not be process 2, because kernel threads are children of process 2.
                #"/bin/true; /bin/true; "$0" replay "$1" --config "$2"; :"#, BuiltProgram.waypost,
                Fixtures.url("nmea/tunnel.nmea").path, config,
            ], environment: BuiltProgram.environment)
        #expect(
            await service.errors.line(
                saying: "/proc belongs to another namespace, so processes left by token command "
                    + "/bin/sh are not found") != nil)
        #expect(await seen.wait { !$0.isEmpty })
        #expect(seen.lines.first?.text == "1")
        service.signal(SIGKILL)
        await service.end()
    }

    /// The first process of a container inherits every orphan. Waypost kills no orphan, and reaps the orphans that have
    /// ended.
    @Test(.enabled(if: geteuid() == 0, "only root can make a namespace"))
    func areReapedByTheFirstProcessOfAContainer() async throws {
        let directory = try TemporaryDirectory()
        let seen = try LineFlow(namedPipe: directory.path("SEEN"))
        // Each stray process has its own pipe, because a reader might find a shared one still open and read nothing.
        let leave = #"(sh -c 'echo $$ >UP' & setsid sleep 45 &); read p <UP; "#
        let config = try configure(
            "n=$(pgrep -cx sleep); [ -p UP2 ] || mkfifo UP2; " + leave + leave.replacing("UP", with: "UP2")
                // Neither the ended strays nor the command of an earlier fetch are left as zombies.
                + "while grep -qs '^State:.Z' /proc/[0-9]*/status; do sleep .01; done; "
                // The shell's child may not have executed its program yet.
                + "until [ $(pgrep -cx sleep) = $((n + 2)) ]; do sleep .01; done; echo $((n + 2)) >SEEN; exit 3",
            in: directory, timeout: 10)
        let service = try RunningProgram(
            [
                "/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc", BuiltProgram.waypost, "replay",
                Fixtures.url("nmea/tunnel.nmea").path, "--config", config,
            ], environment: BuiltProgram.environment)
        #expect(await seen.wait { $0.count >= 3 })
        #expect(seen.lines.prefix(3).map(\.text) == ["2", "4", "6"])
        service.signal(SIGKILL)
        await service.end()
    }

    /// Children that the program inherits from a shell that executes it are not killed.
    @Test func doNotIncludeChildrenThatAreOlderThanTheProgram() async throws {
        let directory = try TemporaryDirectory()
        let config = try configure("exit 3", in: directory)
        let script = """
            cd '\(directory.url.path)'; sleep 45 >/dev/null 2>&1 & echo $! >STRAY; exec "$0" token --config "$1"
            """
        let outcome = try await ChildProcess(
            arguments: ["setsid", "--wait", "sh", "-c", script, BuiltProgram.waypost, config],
            environment: BuiltProgram.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 },
            timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(outcome.ending == .exited(69))
        let processID = try strayID(in: directory)
        #expect(kill(processID, SIGKILL) == 0)
    }

    /// A parent may ignore its children's exit, and a program inherits this setting.
    @Test func keepTheirExitStatusIfTheParentIgnoresChildren() async throws {
        let directory = try TemporaryDirectory()
        let config = try configure("echo no >&2; exit 3", in: directory)
        let outcome = try await ChildProcess(
            arguments: [
                "perl", "-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV", BuiltProgram.waypost, "token", "--config", config,
            ],
            environment: BuiltProgram.environment, timeLimit: BuiltProgram.hangTimeout
        ).run()
        #expect(
            String(decoding: outcome.standardError, as: UTF8.self)
                == "waypost: token command /bin/sh failed with status 3: no; run the command by hand as the service's "
                + "user\n")
    }

    private func configure(_ script: String, in directory: TemporaryDirectory, timeout: Int = 1) throws -> String {
        try valueOrSystemError("make pipe") { unsafe mkfifo(directory.path("UP"), 0o600) }
        var placed = script
        for name in ["STRAY", "UP", "SEEN"] { placed = placed.replacing(name, with: directory.path(name)) }
        let quoted = String(decoding: try JSONEncoder().encode(placed), as: UTF8.self)
        return try ServiceSetup(
            authorization: """
                {"type": "command", "command": ["/bin/sh", "-c", \(quoted)], "timeoutSeconds": \(timeout)}
                """
        ).write(in: directory)
    }

    private func strayID(in directory: TemporaryDirectory) throws -> pid_t {
        let text = try String(contentsOf: URL(filePath: directory.path("STRAY")), encoding: .utf8)
        return try #require(pid_t(text.filter(\.isNumber)))
    }

    private func expectNoStrayProcess(in directory: TemporaryDirectory) throws {
        let processID = try strayID(in: directory)
        #expect(kill(processID, SIGKILL) == -1, "process \(processID) was left behind")
    }
}
