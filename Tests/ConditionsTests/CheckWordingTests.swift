import Conditions
import GNSS
import ReportedText
import Reporting
import Testing

@Suite struct CheckWordings {
    @Test(
        arguments: [
            (
                .exposedSecret(key: "a.b", file: "/c"),
                "a.b is in /c, which every user can read; if it is a secret, run chmod o= /c"
            ),
            (
                .deviceDeniedByUnit("/dev/ttymxc0", unit: "waypost.service"),
                "receiver.device: waypost.service does not allow /dev/ttymxc0; run systemctl edit waypost, and add "
                    + "DeviceAllow=/dev/ttymxc0 rw under [Service]"
            ),
            (
                .privateSwitch(.isDirectory, path: "/p"),
                "vehicle.privateModeFile: /p is a directory, so the vehicle is always private; use the path of a file "
                    + "that the switch creates and removes"
            ),
            (
                .privateSwitch(.directoryMissing, path: "/p"),
                "vehicle.privateModeFile: /p is in a directory that does not exist, so the vehicle is never private; "
                    + "create the directory, or correct the path"
            ),
            (
                .privateSwitch(.hiddenFromUser("uid 7"), path: "/p"),
                "vehicle.privateModeFile: /p can't be seen by uid 7, so the vehicle is always private; give that user "
                    + "access to its directory (chmod o+x)"
            ),
            (
                .privateSwitch(.isOn, path: "/p"),
                "vehicle.privateModeFile: /p exists now, so the vehicle is private; remove the file to end private mode"
            ),
            (
                .outbox(.notWritable(directory: "/d", user: "uid 7", reason: "Permission denied")),
                "outbox.path: uid 7 can't write to /d: Permission denied; change its owner to that user (chown), or "
                    + "choose another path"
            ),
            (
                .outbox(.tooFewInodes(directory: "/d", available: 2, needed: 8)),
                "outbox.path: the file system of /d has 2 inodes left, but an outbox needs 8; remove some files (df "
                    + "-i), or choose another path"
            ),
            (
                .outbox(.tooLittleSpace(directory: "/d", freeBytes: 12_000, neededBytes: 300_000)),
                "outbox.path: only 12 kB are free at /d, but an outbox needs 300 kB; free space there, or choose "
                    + "another path"
            ),
            (
                .outbox(.deniedByUnit(path: "/data/o", directory: "/data", unit: "waypost.service")),
                "outbox.path: /data/o can't be created, because waypost.service does not allow the service to write to "
                    + "/data; choose a path in /var/lib/waypost, or run systemctl edit waypost and add "
                    + "ReadWritePaths=/data under [Service]"
            ),
            (
                .economyDurability(updates: 30, span: .seconds(60)),
                "economy: a crash may lose up to 30 updates from the last 60 s; set outbox.durability to full if no update may be lost"
            ),
        ] as [(CheckFinding, String)])
    func nameCauseAndRemedy(finding: CheckFinding, sentence: String) {
        #expect(finding.sentence.description == sentence)
    }

    private static let receiving = ReceiverState.receiving(source: "/dev/gnss")

    @Test(
        arguments: [
            (
                .otherConfiguration(.fileChanged("/c", loadedAt: "10:00"), service: "waypost runs"),
                "waypost runs; it uses the configuration loaded at 10:00, but /c has been changed since; run systemctl reload "
                    + "waypost (for new credentials or environment values, or if the receiver is stdin or a file "
                    + "without follow, systemctl restart waypost)"
            ),
            (
                .otherConfiguration(.otherFile("/other", checked: "/c"), service: "waypost runs"),
                "waypost runs; the service uses /other instead of /c; check that file (--config /other), or set "
                    + "/c in the service's unit (systemctl edit waypost)"
            ),
            (
                .staleFix(
                    state: ReportedText(
                        String(repeating: "long ", count: 80) + "state", limit: ReportedText.maximumSentenceLength),
                    .receiving, age: nil),
                String(repeating: "long ", count: 80)
                    + "state; the service has had no fix yet; \(ConditionCode.noPosition.remedy)"
            ),
            (
                .otherVehicle("v", nil, service: "waypost runs"),
                "waypost runs, for another vehicle, v; if this vehicle should run, run systemctl restart waypost"
            ),
            (
                .noFix(receiving, cause: nil, within: .seconds(30)),
                "/dev/gnss: receiving, but no fix within 30 s; \(ConditionCode.noPosition.remedy)"
            ),
            (
                .noFix(.starting(source: "tcp van:80", .connected), cause: nil, within: .seconds(30)),
                "tcp van:80: connected, waiting for the first sentence, but no fix within 30 s; "
                    + ConditionCode.receiverUnavailable.remedy
            ),
            (
                .noFix(.waiting(source: "/dev/gnss", .deviceMissing), cause: nil, within: .seconds(30)),
                "/dev/gnss: no such device; plug the receiver in, or correct the path (ls -l /dev/serial/by-id)"
            ),
            (
                .noFix(receiving, cause: .dateTooEarly, within: .seconds(30)),
                "/dev/gnss: receiving, but no fix within 30 s: \(Condition(ReceiverWarning.dateTooEarly).line); to "
                    + "read a recorded log, set receiver.type to file or use waypost replay"
            ),
            (
                .wrongFixTime(fix: "fix", behind: .seconds(-7240), .ownSynchronized),
                "fix; its time is 2 h ahead of this machine's clock, which is synchronised; the receiver may send local "
                    + "time: set it to UTC"
            ),
            (
                .wrongFixTime(fix: "fix", behind: .seconds(8000), .fleetEngine),
                "fix; its time is 2 h behind Fleet Engine's clock; turn the receiver off and on; if that doesn't help, "
                    + "update its firmware or replace the receiver"
            ),
            (
                .wrongFixTime(fix: "fix", behind: .seconds(8000), .ownUnsynchronized),
                "fix; its time is 2 h behind this machine's clock, which is not synchronised; one of the two is wrong: set this "
                    + "machine's clock (timedatectl), and check again"
            ),
        ] as [(OnlineFinding, String)])
    func describeAnOnlineCheck(finding: OnlineFinding, sentence: String) {
        #expect(finding.sentence.description == sentence)
    }
}
