// swift-tools-version: 6.3
import PackageDescription

/// Modules with the names of Google's iOS SDKs, so that a token provider class compiles unchanged.
let package = Package(
    name: "GoogleRidesharing",
    products: [
        .library(name: "GoogleRidesharingDriver", targets: ["GoogleRidesharingDriver"]),
        .library(name: "GoogleRidesharingConsumer", targets: ["GoogleRidesharingConsumer"]),
    ],
    dependencies: [.package(name: "waypost", path: "../..")],
    targets: ["GoogleRidesharingDriver", "GoogleRidesharingConsumer"].map {
        .target(name: $0, dependencies: [.product(name: "DriverAuthorization", package: "waypost")])
    })
