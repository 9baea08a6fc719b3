import Foundation
import Testing

/// The directories mirror the architecture: the table, `Package.swift`, `Sources/` and `Tests/` name the same modules.
@Suite struct Layout {
    @Test(arguments: ["Core", "Adapters", "Operations", "Agent", "Tools", "Command"])
    func hasTheModulesOfTheTable(inRoom room: String) throws {
        let table = Set(modules.filter { $0.room == room }.map(\.name))
        #expect(try Set(Checkout.directories(in: "Sources/\(room)")) == table)
    }

    @Test func hasNoOtherDirectories() throws {
        let rooms = ["Adapters", "Agent", "Command", "Core", "Operations", "SystemLibraries", "Tools"]
        #expect(try Checkout.directories(in: "Sources") == rooms)
        for room in rooms {
            let loose = try FileManager.default.contentsOfDirectory(
                atPath: Checkout.root.appending(path: "Sources/\(room)").path
            ).filter { $0.hasSuffix(".swift") }
            #expect(loose.isEmpty, "Sources/\(room) holds files outside any module: \(loose)")
        }
    }

    @Test(arguments: modules.map(\.name))
    func declaresEachModule(module name: String) throws {
        let module = try #require(modules.first { $0.name == name })
        let package = try Checkout.contents(of: "Package.swift")
        #expect(package.contains("\"\(name)\""), "Package.swift does not declare \(name)")
        // The build checks the dependencies in the manifest; this test checks that they match the table.
        let dependencies = try #require(Self.dependencies(of: name, in: package))
        #expect(dependencies.isSubset(of: module.mayImport), "\(dependencies.subtracting(module.mayImport).sorted())")
    }

    /// Agent, operations and commands are tested together, from outside. So are the generator and the decoder of
    /// sentences.
    private static let testedTogether = [
        "Operations": "Agent", "Waypost": "Agent", "WaypostCommand": "Agent", "LogReports": "Agent",
        "Demo": "Agent",
        "ReceiverSimulator": "GNSS",
    ]

    @Test(arguments: modules.map(\.name))
    func hasTestsForEachModule(module name: String) throws {
        let directory = "Tests/\(Self.testedTogether[name] ?? name)Tests"
        let hasTests = try Checkout.sources(below: directory).contains { $0.code.contains { $0.contains("@Test") } }
        #expect(hasTests, "\(directory) holds no test")
    }

    /// Mathematics and cryptography have neither state nor I/O, so several modules may use them.
    @Test(arguments: [
        ("CCurl", 1), ("CSQLite", 1), ("CCrypto", 2), ("CSSL", 1), ("CZlib", 1), ("CLinux", 1), ("CMath", 2),
    ])
    func wrapsEachCLibraryOnce(library: String, users: Int) throws {
        #expect(modules.filter { $0.mayImport.contains(library) }.count == users)
        #expect(try Checkout.directories(in: "Sources/SystemLibraries").contains(library))
    }

    @Test func importsOnlyModulesThatAreHigherInTheTable() {
        for (index, module) in modules.enumerated() {
            let later = Set(modules[index...].map(\.name))
            #expect(module.mayImport.isDisjoint(with: later), "\(module.name) imports a module below it")
        }
    }

    /// Each file has a suite that is named after the file, in the plural if the singular is the name of a type.
    @Test func namesSuitesAfterTheirFiles() throws {
        let files = try Checkout.sources(below: "Tests").filter { $0.code.contains { $0.contains("@Test") } }
        #expect(files.count > 150, "the tests are not where this test looks for them")
        let strays = files.filter { !Self.isNamedAfterASuite($0) }.map(\.path)
        #expect(strays.isEmpty, "\(strays.joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("FullDisk", "@Suite(.serialized) struct FullDisk {", true), ("BatchSize", "struct BatchSizes {", true),
        ("RetryPolicy", "@Suite struct RetryPolicies {", true), ("RetryPolicy", "@Suite struct Retrying {", false),
        ("FullDisk", "extension FullDisk {", false),
    ])
    func recognisesASuiteThatIsNamedAfterItsFile(file: String, declaration: String, isNamedAfterFile: Bool) {
        let file = SourceFile(path: "Tests/ATests/\(file)Tests.swift", text: declaration)
        #expect(Self.isNamedAfterASuite(file) == isNamedAfterFile)
    }

    private static func isNamedAfterASuite(_ file: SourceFile) -> Bool {
        let name = file.path.split(separator: "/").last?.replacing("Tests.swift", with: "").replacing(
            ".swift", with: "")
        guard let name else { return false }
        let names = [name, name + "s", name + "es", name.dropLast() + "ies"]
        return file.code.contains { line in
            line.firstMatch(of: /^(?:@Suite.* )?struct (\w+)/).map { names.contains($0.1) } ?? false
        }
    }

    /// Returns the names in the list of dependencies after the target's name in the manifest.
    private static func dependencies(of name: String, in package: String) -> Set<String>? {
        guard
            let declaration = package.ranges(of: "\"\(name)\"").first(where: {
                let before = package[..<$0.lowerBound].suffix(60)
                return before.contains(/room\(\s*"\w+",\s*$/) || before.contains(/executableTarget\(\s*name:\s*$/)
            })
        else { return nil }
        let rest = package[declaration.upperBound...]
        guard let match = rest.prefixMatch(of: /\s*,?\s*(?:dependencies:)?\s*(?:\[([^\]]*)\])?/) else { return nil }
        return Set((match.output.1 ?? "").matches(of: /"(\w+)"/).map { String($0.output.1) })
    }
}
