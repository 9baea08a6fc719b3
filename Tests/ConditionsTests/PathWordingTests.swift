import Conditions
import ReportedText
import Reporting
import Testing

/// The reason and the remedy for each path that Waypost leaves alone, and for each address that it can't listen on.
@Suite struct PathWording {
    @Test(
        arguments: [
            (
                .notFile(kind: "a symbolic link", isDevice: false),
                "/o is a symbolic link, not a file; move it away, or choose another path"
            ),
            (.notFile(kind: "a device", isDevice: true), "/o is a device, not a file; choose another path"),
            (.directory, "/o is a directory, not a file; move it away"),
            (
                .foreignFile(owner: "root", user: "uid 1000"),
                "/o belongs to root, not to uid 1000; run Waypost as root, move the file away, or choose another path"
            ),
            (.hardLinks(count: 2), "/o has 2 names (hard links); remove all but one, or choose another path"),
            (.notReplaced(owner: "root"), "/o belongs to root; remove it, or choose another path"),
            (
                .notRemoved(owner: "root"),
                "/o belongs to root and isn't removed; ask its owner to remove it, or choose another path"
            ),
            (.foreignOutput(kind: "a FIFO", owner: "uid 998"), "/o is a FIFO owned by uid 998; choose another path"),
            (.justReplaced, "/o has just been replaced; choose another path"),
            (
                .foreignLink(owner: "uid 998"),
                "/o is a symbolic link that belongs to uid 998 and is not followed; remove it, or choose another path"
            ),
            (
                .foreignDirectory(owner: "uid 1001", user: "uid 1000"),
                "the directory /o belongs to uid 1001, who could replace a file with a symbolic link; choose a directory that "
                    + "belongs to uid 1000, or run Waypost as uid 1001"
            ),
            (
                .sharedDirectory(group: 50),
                "the directory /o may be written by members of gid 50, who could replace a file with a symbolic link; run "
                    + "chmod go-w on it, or choose another directory"
            ),
            (
                .sharedVolume(group: 50),
                "the directory /o may be written by members of gid 50, who could replace a file with a symbolic link; run "
                    + "chmod +t on it (usual for a Kubernetes volume with fsGroup), or choose another directory"
            ),
            (
                .stickyDirectory(group: nil),
                "the directory /o may be written by every user, who could replace a file with a symbolic link; choose a "
                    + "directory in it, or choose another directory"
            ),
            (
                .notSocket(kind: "a file"),
                "/o is a file, not a socket, and is left unchanged; choose another path, such as "
                    + "unix:/run/waypost/status"
            ),
            (
                .foreignSocket(owner: "root"),
                "/o is a socket that belongs to root, and is left unchanged; choose another path"
            ),
            (.closedOutput, "/o is closed, so the result can't be written; remove >&-"),
            (
                .notRecord(option: "--record"),
                "/o exists and isn't a record of --record; choose another file, or remove this file"
            ),
        ] as [(PathRefusal.Reason, String)])
    func hasARemedy(reason: PathRefusal.Reason, sentence: String) {
        #expect(PathRefusal(of: "/o", because: reason).wording.sentence.description == sentence)
    }

    @Test(
        arguments: [
            (.owner("uid 998"), "belongs to uid 998, who can change it; run chown root on it"),
            (.writable(group: nil), "can be changed by every user; run chmod go-w on it"),
            (.writable(group: 50), "can be changed by the members of gid 50; run chmod go-w on it"),
            (
                .replaceable(PathRefusal(of: "/o", because: .justReplaced)),
                "can be replaced: /o has just been replaced; choose another path"
            ),
        ] as [(PathExposure, String)])
    func saysHowAFileIsExposed(exposure: PathExposure, sentence: String) {
        #expect(exposure.wording(of: "/f", key: "k").sentence.description == "k: /f \(sentence)")
    }

    @Test(
        arguments: [
            (
                .portInUse(9464, by: .process("gpsd (process 812)", stopCommand: "kill 812")),
                "gpsd (process 812) holds it; stop it (kill 812), or choose another port (0 selects a free one)"
            ),
            (
                .portInUse(9464, by: .user("uid 998")),
                "a process of uid 998 holds it; find it as root (ss -ltnp sport = :9464) and stop it, or choose "
                    + "another port (0 selects a free one)"
            ),
            (
                .socketInUse("/s", by: nil),
                "another process holds it; find it as root (ss -lxp src /s) and stop it, or choose another path"
            ),
            (.refused(PathRefusal(of: "/s", because: .justReplaced)), "/s has just been replaced; choose another path"),
            (.privilegedPort(reason: "Permission denied"), "Permission denied; choose a port above 1023"),
            (
                .directoryUnusable("/d", reason: "No such file or directory"),
                "No such file or directory; create /d for this user, or choose a path in an existing directory of this "
                    + "user"
            ),
            (.other(reason: "Cannot assign requested address"), "Cannot assign requested address"),
        ] as [(ListenFault, String)])
    func hasARemedyForAnAddress(fault: ListenFault, sentence: String) {
        #expect(fault.wording(on: "/s").sentence.description == "cannot listen on /s: \(sentence)")
        #expect(Condition(statusAddress: "/s", unavailable: fault).code == .statusAddressUnavailable)
    }
}
