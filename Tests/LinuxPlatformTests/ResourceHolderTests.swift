import Glibc
import Testing
import WaypostTestSupport

@testable import LinuxPlatform

/// Descriptions of a process that has a file, device or socket open.
@Suite struct ResourceHolders {
    @Test(arguments: [
        ("0::/system.slice/waypost.service\n", "waypost"),
        ("0::/system.slice/system-waypost.slice/waypost@van7.service\n", "waypost@van7"),
        ("12:cpu:/\n1:name=systemd:/system.slice/gpsd.service\n0::/elsewhere.service\n", "gpsd"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/waypost.service\n", "--user waypost"),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", nil), ("0::/\n", nil), ("", nil),
        ("0::/machine.slice/van.service/payload\n", nil), ("0::/system.slice/\u{1B}[31m.service\n", nil),
    ])
    func belongToAUnit(groups: String, unit: String?) { #expect(HoldingProcess.unit(ofGroups: groups) == unit) }

    @Test func areStoppedByTheCommandOfTheirUnit() {
        let service = HoldingProcess(processID: 812, command: "waypost", unit: "waypost")
        #expect(service.description == "waypost (process 812)")
        #expect(service.stopCommand == "systemctl stop waypost")
        #expect(service.restartRemedy == "restart it (systemctl restart waypost)")
        let other = HoldingProcess(processID: 813, command: nil)
        #expect(other.description == "a process (process 813)")
        #expect(other.stopCommand == "kill 813")
        #expect(other.restartRemedy == "stop it (kill 813) and start it again")
    }

    /// These tests may run within a unit, but the unit didn't start them itself.
    @Test func haveTheNamesThatTheKernelReports() {
        let own = HoldingProcess(reading: getpid())
        #expect(own.command == commandName(ofProcess: getpid()) && own.command != nil)
        #expect(own.stopCommand == "kill \(getpid())")
        #expect(HoldingProcess(reading: -1) == HoldingProcess(processID: -1, command: nil))
    }
}
