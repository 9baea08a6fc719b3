// swift-tools-version: 6.3
import PackageDescription

let waypost = [
    Target.Dependency.product(name: "Waypost", package: "waypost"),
    .product(name: "DriverAuthorization", package: "waypost"),
]

let package = Package(
    name: "DriverApp",
    dependencies: [.package(name: "waypost", path: "../..")],
    targets: [
        // In the language mode that the provider classes of an iOS app are usually compiled in.
        .executableTarget(
            name: "DriverApp", dependencies: waypost + ["ModernProviders"], swiftSettings: [.swiftLanguageMode(.v5)]),
        // Providers as apps in Swift 6 mode have them.
        .target(
            name: "ModernProviders", dependencies: [waypost[1]],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ])
