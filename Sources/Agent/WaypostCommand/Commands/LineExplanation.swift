import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
import Waypost

/// `waypost fixes --explain LINE`: what becomes of one line, and why; given as it stands, or by its number in a log.
struct LineExplanation {
    let line: String
    let log: String

    func run() async throws -> ExitStatus {
        guard let number = Int(line) else {
            try Self.explain(Array(line.utf8))
            return .done
        }
        let path = log
        let found: Result<[UInt8]?, FixSourceError> = await onThread(named: "explain") {
            do throws(FixSourceError) { return .success(try Self.line(number, of: path)) } catch {
                return .failure(error)
            }
        }
        let bytes: [UInt8]?
        do { bytes = try found.get() } catch { throw AgentError(.inputData, error.description) }
        guard let bytes else { throw AgentError(.inputData, "\(log) has no line \(number)") }
        try StandardOutput.write(line: "line \(number): \(String(decoding: bytes.prefix(300), as: UTF8.self))")
        try Self.explain(bytes)
        return .done
    }

    private static func explain(_ bytes: [UInt8]) throws(SystemError) {
        for text in SentenceExplanation.texts(of: bytes.span) { try StandardOutput.write(line: text) }
    }

    /// The bytes between two line feeds, at most 4096 of them; lines count from 1.
    private static func line(_ number: Int, of path: String) throws(FixSourceError) -> [UInt8]? {
        let log = try RecordedLog(path: path)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var current = 1
        var line: [UInt8] = []
        while true {
            var span = buffer.mutableSpan
            let count = try log.read(into: &span)
            guard count > 0 else { return current == number && !line.isEmpty ? line : nil }
            for byte in buffer[..<count] {
                guard byte != UInt8(ascii: "\n") else {
                    if current == number { return line }
                    current += 1
                    continue
                }
                if current == number, line.count < 4096 { line.append(byte) }
            }
        }
    }
}
