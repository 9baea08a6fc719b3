import Glibc
import Testing

@testable import VehicleAuthorization

@Suite struct SecretTexts {
    @Test func keepTheirText() {
        let text = "héader.päyload.signature"
        #expect(SecretText(text).text == text)
        #expect(SecretText(text) == SecretText(text) && SecretText(text) != SecretText("x"))
        #expect(SecretText("").text == "" && SecretText(text).count == text.utf8.count)
    }

    /// The freed memory is read through the kernel, independently of the allocator.
    @Test func areOverwrittenWhenTheLastOwnerReleasesThem() throws {
        let word = "never-to-be-found-again."
        var token: AuthorizationToken? = AuthorizationToken(
            value: String(repeating: word, count: 40), lifetime: .seconds(300))
        var copy = token?.withLifetime(nil)
        let address = unsafe UInt(bitPattern: token?.secret.bytes.baseAddress)
        token = nil
        #expect(try Self.memory(at: address).contains(word), "held by a copy")
        #expect(copy?.value.hasPrefix(word) == true)
        copy = nil
        #expect(try !Self.memory(at: address).contains(word))
    }

    private static func memory(at address: UInt) throws -> String {
        let descriptor = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 600)
        let count = unsafe pread(descriptor, &bytes, bytes.count, off_t(address))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
