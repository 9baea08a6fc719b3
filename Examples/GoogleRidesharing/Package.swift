// swift-tools-version: 6.3
import PackageDescription

/// Modules named as those of Google's iOS SDKs: a token provider class keeps its import, and compiles as it is.
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
