import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite struct DirectoryWatches {
    private let folder: TemporaryFolder
    private let files = FileManager.default

    init() throws { folder = try TemporaryFolder() }

    private func makeFolder(_ name: String) throws {
        try files.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
    }

    private func makeLink(_ name: String, to target: String) throws {
        try files.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
    }

    @Test func noticesANewFile() throws {
        let watch = try DirectoryWatch(for: folder.path("receiver"))
        #expect(!watch.takeArrival())
        try makeLink("receiver", to: "nowhere")
        #expect(watch.takeArrival())
        #expect(!watch.takeArrival())
    }

    @Test func makesItsDescriptorReadable() throws {
        let watch = try DirectoryWatch(for: folder.path("receiver"))
        let stop = try EventDescriptor()
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .timedOut)
        try folder.write([], to: "receiver")
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .ready(isHungUp: false))
        #expect(watch.takeArrival())
        #expect(try poll(watch.raw, within: .zero, unless: stop) == .timedOut)
    }

    /// udev creates a device for root only and then gives it to its group.
    @Test func noticesANewMode() throws {
        let path = try folder.write([], to: "receiver")
        let watch = try DirectoryWatch(for: path)
        try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(watch.takeArrival())
    }

    @Test func ignoresAnyNumberOfOtherNames() throws {
        let watch = try DirectoryWatch(for: folder.path("receiver"))
        for number in 0..<3000 { try folder.write([], to: "other-\(number)") }
        while try poll(watch.raw, within: .zero, unless: EventDescriptor()) != .timedOut {
            #expect(!watch.takeArrival())
        }
        try folder.write([], to: "receiver")
        #expect(watch.takeArrival())
    }

    /// Like `/dev/serial/by-id`, which is removed with its last device.
    @Test func followsDirectoriesThatComeAndGo() throws {
        let watch = try DirectoryWatch(for: folder.path("serial/by-id/receiver"))
        for _ in 1...3 {
            try makeFolder("serial")
            #expect(watch.takeArrival())
            try makeFolder("serial/by-id")
            #expect(watch.takeArrival())
            try makeLink("serial/by-id/receiver", to: "../../tty")
            #expect(watch.takeArrival())
            try files.removeItem(atPath: folder.path("serial"))
            _ = watch.takeArrival()
        }
        // All at once, before the first look.
        try makeFolder("serial")
        try makeFolder("serial/by-id")
        #expect(watch.takeArrival())
        try makeLink("serial/by-id/receiver", to: "../../tty")
        #expect(watch.takeArrival())
    }

    @Test func followsALinkToAMissingTarget() throws {
        try makeFolder("links")
        try makeFolder("devices")
        try makeLink("links/receiver", to: "../devices/tty")
        let watch = try DirectoryWatch(for: folder.path("links/receiver"))
        try folder.write([], to: "devices/other")
        #expect(!watch.takeArrival())
        try folder.write([], to: "devices/tty")
        #expect(watch.takeArrival())
    }

    @Test func toleratesACycleOfLinks() throws {
        try makeLink("one", to: "two")
        try makeLink("two", to: "one")
        let watch = try DirectoryWatch(for: folder.path("one"))
        #expect(!watch.takeArrival())
    }
}
