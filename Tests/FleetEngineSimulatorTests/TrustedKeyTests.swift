import FoundationEssentials
import HTTPMessages
import LinuxPlatform
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import FleetEngineSimulator

/// The public key of a real backend. A simulator that has it accepts the backend's tokens.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is not installed"))
struct TrustedKey {
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory()
        try await Self.run(
            [
                "/usr/bin/openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
                directory.path("key.pem"),
            ])
        try await Self.run(
            [
                "/usr/bin/openssl", "pkey", "-in", directory.path("key.pem"), "-pubout", "-out",
                directory.path("public.pem"),
            ])
        try await Self.run(
            [
                "/usr/bin/openssl", "pkey", "-in", directory.path("key.pem"), "-outform", "DER", "-out",
                directory.path("key.der"),
            ])
    }

    private static func run(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess(
            arguments: arguments, environment: ["PATH": "/usr/bin:/bin"], timeLimit: .seconds(100)
        ).run()
        let message = String(decoding: outcome.standardError, as: UTF8.self)
        try #require(outcome.ending == .exited(0), "\(arguments[0]): \(message)")
    }

    private func backend() throws -> SimulatedBackend {
        let publicKey = Array(try Data(contentsOf: URL(filePath: directory.path("public.pem"))))
        return try SimulatedBackend {
            $0.trustedKey = publicKey
            $0.trips = [SimulatedTrip(id: "trip-1", vehicleID: "van-7")]
        }
    }

    private func token(_ claims: [String: String]) throws -> String {
        let account = "backend@p.iam.gserviceaccount.com"
        let key = Array(try Data(contentsOf: URL(filePath: directory.path("key.der"))))
        return try TokenAuthority(keyID: "key-1", key: key).token(
            TokenClaims(
                issuer: account, subject: account, issuedAt: SimulatedBackend.initialSeconds,
                expiry: SimulatedBackend.initialSeconds + 3600,
                authorization: claims))
    }

    @Test func permitsWhatTokensSignedWithItClaim() async throws {
        let backend = try backend()
        let driver = try token(["vehicleid": "van-7"])
        #expect(try await backend.send(.get, "vehicles/van-7", token: driver).status == 200)
        #expect(try await backend.send(.get, "vehicles/van-8", token: driver).status == 403)
        let consumer = try token(["tripid": "trip-1"])
        #expect(try await backend.send(.get, "trips/trip-1", token: consumer).status == 200)
        let delivery = try token(["deliveryvehicleid": "van-7", "taskid": "task-1"])
        #expect(try await backend.send(.get, "deliveryVehicles/van-7", token: delivery).status == 200)
        // The simulator's own tokens still work.
        let own = try await backend.token("driver/van-7")
        #expect(try await backend.send(.get, "vehicles/van-7", token: own).status == 200)
    }

    @Test func isRequiredForAnotherIssuersTokens() async throws {
        let driver = try token(["vehicleid": "van-7"])
        let answer = try await SimulatedBackend().send(.get, "vehicles/van-7", token: driver)
        #expect(answer.status == 401)
        #expect(answer.json.errorMessage.contains("kid"))
        let cut = driver.dropLast(8) + "AAAAAAAA"
        #expect(try await backend().send(.get, "vehicles/van-7", token: String(cut)).status == 401)
    }

    @Test func mustBeAPublicKey() throws {
        let privateKey = Array(try Data(contentsOf: URL(filePath: directory.path("key.pem"))))
        for key in [privateKey, Array("no key".utf8), []] {
            let error = #expect(throws: SimulatorError.self) { try SimulatedBackend { $0.trustedKey = key } }
            let remedy =
                "is not a public key in PEM; extract it from a private key with openssl pkey -pubout -in FILE, or from a "
                + "certificate with openssl x509 -pubkey -noout -in FILE"
            #expect(error?.description.contains(remedy) == true)
        }
    }
}
