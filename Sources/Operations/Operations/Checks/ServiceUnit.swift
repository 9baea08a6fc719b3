import ReportedText

/// Facts about the service's unit, read from systemd and its journal.
package enum ServiceUnit {
    /// The number of times that systemd has restarted the service since it was started by hand; 0 if it isn't known.
    package static var restarts: Int {
        get async { Int(await shown("NRestarts")) ?? 0 }
    }

    /// The reason that the service gave for its end, if its last run has failed; otherwise `nil`.
    static var lastFailure: String? {
        get async {
            guard SandboxedCheck.isSystemdRunning, let status = Int(await shown("ExecMainStatus")), status != 0 else {
                return nil
            }
            let message = await SandboxedCheck.output(of: [
                "/usr/bin/journalctl", "_SYSTEMD_UNIT=\(SandboxedCheck.unitName)", "--grep=^waypost: ", "--lines=1",
                "--output=cat", "--quiet", "--no-pager",
            ])
            let line = message.prefix { !$0.isNewline }
            return line.isEmpty ? nil : ReportedText(line.dropFirst("waypost: ".count), limit: 400).description
        }
    }

    /// Returns the value of a property of the service's unit, as `systemctl show` prints it.
    private static func shown(_ property: String) async -> String {
        let line = await SandboxedCheck.output(of: [
            "/usr/bin/systemctl", "show", "--value", "--property=\(property)", SandboxedCheck.unitName,
        ])
        return String(line.prefix { !$0.isNewline })
    }
}
