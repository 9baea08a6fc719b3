// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "DriverApp",
    dependencies: [.package(name: "waypost", path: "../..")],
    targets: [
        .executableTarget(
            name: "DriverApp",
            dependencies: [
                .product(name: "Waypost", package: "waypost"),
                .product(name: "DriverAuthorization", package: "waypost"),
            ])
    ],
    // What the provider classes of an iOS app are usually compiled in.
    swiftLanguageModes: [.v5])
