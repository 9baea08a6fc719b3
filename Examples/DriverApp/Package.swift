// swift-tools-version: 6.3
import PackageDescription

let waypost = [
    Target.Dependency.product(name: "Waypost", package: "waypost"),
    .product(name: "DriverAuthorization", package: "waypost"),
]

let google = [
    Target.Dependency.product(name: "GoogleRidesharingDriver", package: "GoogleRidesharing"),
    .product(name: "GoogleRidesharingConsumer", package: "GoogleRidesharing"),
]

let package = Package(
    name: "DriverApp",
    dependencies: [.package(name: "waypost", path: "../.."), .package(path: "../GoogleRidesharing")],
    targets: [
        // The language mode in which iOS apps usually compile their provider classes.
        .executableTarget(
            name: "DriverApp", dependencies: waypost + google + ["ModernProviders"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        // The providers of apps in Swift 6 mode.
        .target(
            name: "ModernProviders", dependencies: google,
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ])
