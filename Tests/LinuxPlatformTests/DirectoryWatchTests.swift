import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct DirectoryWatches {
    private let directory: TemporaryDirectory
    private let files = FileManager.default

    init() throws { directory = try TemporaryDirectory() }

    private func makeDirectory(_ name: String) throws {
        try files.createDirectory(atPath: directory.path(name), withIntermediateDirectories: false)
    }

    private func makeLink(_ name: String, to target: String) throws {
        try files.createSymbolicLink(atPath: directory.path(name), withDestinationPath: target)
    }

    @Test func noticeANewFile() throws {
        let watch = try DirectoryWatch(for: directory.path("receiver"))
        #expect(!watch.takeArrival())
        try makeLink("receiver", to: "nowhere")
        #expect(watch.takeArrival())
        #expect(!watch.takeArrival())
    }

    @Test func makeTheirDescriptorReadableWhenAFileArrives() throws {
        let watch = try DirectoryWatch(for: directory.path("receiver"))
        let stop = try EventDescriptor()
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .timedOut)
        try directory.write([], to: "receiver")
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .ready(isHungUp: false))
        #expect(watch.takeArrival())
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .timedOut)
    }

    /// udev creates a device for root only and then changes its group.
    @Test func noticeANewMode() throws {
        let path = try directory.write([], to: "receiver")
        let watch = try DirectoryWatch(for: path)
        try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(watch.takeArrival())
    }

    @Test func ignoreAnyNumberOfOtherNames() throws {
        let watch = try DirectoryWatch(for: directory.path("receiver"))
        for number in 0..<3000 { try directory.write([], to: "other-\(number)") }
        while try poll(watch.raw, within: .zero, unless: EventDescriptor()) != .timedOut {
            #expect(!watch.takeArrival())
        }
        try directory.write([], to: "receiver")
        #expect(watch.takeArrival())
    }

    /// The directories behave like `/dev/serial/by-id`, which is removed with its last device.
    @Test func followDirectoriesThatComeAndGo() throws {
        let watch = try DirectoryWatch(for: directory.path("serial/by-id/receiver"))
        for _ in 1...3 {
            try makeDirectory("serial")
            #expect(watch.takeArrival())
            try makeDirectory("serial/by-id")
            #expect(watch.takeArrival())
            try makeLink("serial/by-id/receiver", to: "../../tty")
            #expect(watch.takeArrival())
            try files.removeItem(atPath: directory.path("serial"))
            _ = watch.takeArrival()
        }
        // Both directories are created before the watch is read.
        try makeDirectory("serial")
        try makeDirectory("serial/by-id")
        #expect(watch.takeArrival())
        try makeLink("serial/by-id/receiver", to: "../../tty")
        #expect(watch.takeArrival())
    }

    @Test func followALinkToAMissingTarget() throws {
        try makeDirectory("links")
        try makeDirectory("devices")
        try makeLink("links/receiver", to: "../devices/tty")
        let watch = try DirectoryWatch(for: directory.path("links/receiver"))
        try directory.write([], to: "devices/other")
        #expect(!watch.takeArrival())
        try directory.write([], to: "devices/tty")
        #expect(watch.takeArrival())
    }

    @Test func tolerateACycleOfLinks() throws {
        try makeLink("one", to: "two")
        try makeLink("two", to: "one")
        let watch = try DirectoryWatch(for: directory.path("one"))
        #expect(!watch.takeArrival())
    }
}
