import Testing

/// The list of supported platforms in docs/platforms.md, with which all other lists must agree.
@Suite struct Platforms {
    private let supported: Substring
    private let lastSeen: Substring

    init() throws {
        let sections = try Checkout.contents(of: "docs/platforms.md").split(separator: "\n## ")
        supported = try #require(sections.first { $0.hasPrefix("Supported") })
        lastSeen = try #require(sections.first { $0.hasPrefix("Last seen") })
    }

    /// The README names a release only if it is supported, and a release is supported only if its tests have passed.
    @Test func arePromisedOnlyIfTested() throws {
        let releases = Self.releases(in: supported)
        #expect(releases.count >= 2, "docs/platforms.md names no releases where this test looks for them")
        for release in releases {
            let rows = lastSeen.split(separator: "\n").filter { $0.hasPrefix("| Debian \(release)") }
            #expect(!rows.isEmpty, "Debian \(release) is listed as supported, but was never seen to pass")
            for row in rows { #expect(row.contains(/`[0-9a-f]{7,}`/), "no commit: \(row)") }
        }
        let readme = try Checkout.contents(of: "README.md")
        let need = try #require(readme.split(separator: "\n").first { $0.hasPrefix("You need ") })
        #expect(need.contains("Debian \(releases.sorted().map(String.init).joined(separator: " or "))"))
    }

    /// `scripts/prepare` requires the same version, which it reads from Package.swift.
    @Test func useTheCompilerThatThePackageRequires() throws {
        let first = try #require(try Checkout.contents(of: "Package.swift").split(separator: "\n").first)
        let version = try #require(first.firstMatch(of: /swift-tools-version: ([0-9.]+)/)).1
        #expect(supported.contains("Swift \(version)"), "Package.swift asks for Swift \(version)")
    }

    private static func releases(in text: Substring) -> Set<Int> {
        Set(text.matches(of: /Debian (\d+)/).compactMap { Int($0.1) })
    }
}
