import Operations
package import GNSSReceiver
import StrictJSON
package import TimeAndRandomness

/// The data that one run of the service passes to the next run in the same process.
package struct Handover: Sendable, Hashable {
    /// The reason why the next run begins.
    package enum Cause: String, Sendable, Hashable, Codable {
        case request, certificateFiles
        /// A reload was rejected after the previous run had ended, so the next run keeps the same configuration.
        case rejected
    }

    package let cause: Cause
    /// The validated configuration of the next run.
    package let document: ConfigurationDocument
    /// The time at which the configuration was read.
    package let loadedAt: UTCTime
    /// The receiver's baud rate; `nil` unless a search has found it.
    package let baudRate: FoundBaudRate?

    package init(cause: Cause, document: ConfigurationDocument, loadedAt: UTCTime, baudRate: FoundBaudRate?) {
        self.cause = cause
        self.document = document
        self.loadedAt = loadedAt
        self.baudRate = baudRate
    }
}

extension Handover {
    private struct EncodedValue: Codable {
        let key, name, text: String
        let isOpenToAll: Bool
    }

    private struct EncodedHandover: Codable {
        let version: Int
        let cause: Cause
        let configuration: String
        let loadedAtMilliseconds: Int64
        let values: [EncodedValue]
        let baudRate: FoundBaudRate?
    }

    /// The version of the message's format. Messages with any other version are ignored.
    private static let version = 1

    /// The handover, encoded for the program that replaces this one when the process re-executes itself. `nil` if the
    /// configuration isn't UTF-8.
    package var message: [UInt8]? {
        guard let text = String(validating: document.json, as: UTF8.self) else { return nil }
        let values = document.values.map { reference, found in
            EncodedValue(
                key: reference.parts.key, name: reference.parts.name, text: found.text,
                isOpenToAll: found.isWorldReadable)
        }
        let message = EncodedHandover(
            version: Self.version, cause: cause, configuration: text,
            loadedAtMilliseconds: loadedAt.millisecondsSince1970, values: values, baudRate: baudRate)
        return (try? JSONValue(encoding: message)).map { Array($0.text.utf8) }
    }

    /// Decodes a handover from the program that this process ran before. The result is `nil` if the format is unknown.
    package init?(message bytes: [UInt8]) {
        guard let message: EncodedHandover = try? JSONValue(parsing: bytes).decoded(), message.version == Self.version
        else {
            return nil
        }
        var values: [ValueReference: ValueReference.Found] = [:]
        for value in message.values {
            guard let reference = ValueReference([value.key: .string(value.name)]) else { return nil }
            values[reference] = ValueReference.Found(text: value.text, isWorldReadable: value.isOpenToAll)
        }
        cause = message.cause
        document = ConfigurationDocument(json: Array(message.configuration.utf8), values: values)
        loadedAt = UTCTime(millisecondsSince1970: message.loadedAtMilliseconds)
        baudRate = message.baudRate
    }
}
