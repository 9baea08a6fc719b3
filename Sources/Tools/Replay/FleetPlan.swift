package import FleetEngine
import GNSSReceiver
import TimeAndRandomness
import Operations

/// The vehicles of a replay: how many there are, their ids, and the offsets of their drives in time and position.
///
/// Ids and offsets are derived from the vehicles' numbers, so that several machines can each replay a part of one
/// fleet.
package struct FleetPlan: Sendable, Equatable {
    package var count = 1
    package var firstNumber = 1
    /// The pattern of the vehicle ids. If it is `nil`, the ids are derived from the configured id. With several
    /// vehicles, the vehicle's number is appended.
    package var pattern: VehiclePattern?
    /// The period, in seconds, over which the starts of the vehicles are spread; `nil` selects one update interval.
    package var spreadSeconds: Double?
    package var spreadMeters = 0.0

    /// Creates a plan with only the configured vehicle.
    package init() {}

    /// Returns the names of the vehicles in the order of their numbers. `vehicle` is the configured vehicle.
    ///
    /// - Throws: `InvalidVehicleID` if the pattern produces an invalid id, or `AgentError` if the configured id with a
    ///   number is invalid.
    package func names(for vehicle: VehicleName) throws -> [VehicleName] {
        guard count > 1 || pattern != nil else { return [vehicle] }
        var names: [VehicleName] = []
        for number in numbers {
            let id = (pattern ?? .numbered).id(number: number, configuredID: vehicle.vehicleID)
            do {
                names.append(try VehicleName(service: vehicle.service, providerID: vehicle.providerID, vehicleID: id))
            } catch {
                if let given = pattern, given != .numbered {
                    throw InvalidVehicleID(description: "--vehicle-id \(given): the vehicle id \"\(id)\" \(error)")
                }
                throw AgentError(.configuration, "the vehicle id \"\(id)\" \(error)")
            }
        }
        return names
    }

    /// Returns the offset, in time and position, of the drive of the vehicle at `index`. `interval` is the time between
    /// two updates.
    func offset(at index: Int, interval: Duration) -> DriveOffset {
        DriveOffset(
            delay: spreadTime(interval: interval) * index / count, withinMeters: spreadMeters,
            forVehicle: firstNumber + index)
    }

    /// Returns the period over which the starts of the vehicles are spread. `interval` is the time between two updates.
    func spreadTime(interval: Duration) -> Duration { spreadSeconds.map { .seconds($0) } ?? interval }

    private var numbers: ClosedRange<Int> { firstNumber...firstNumber + count - 1 }
}

/// An error for a pattern that produces an invalid vehicle id.
package struct InvalidVehicleID: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
}

/// A pattern for vehicle ids, such as `van-%05d`.
package struct VehiclePattern: Sendable, Equatable, CustomStringConvertible {
    /// A reason why a pattern is invalid. Error messages show the pattern, followed by the description.
    package enum Problem: Error, CustomStringConvertible {
        case conversion(String)
        case secondNumber

        package var description: String {
            switch self {
            case .conversion(let text): "contains \(text); use %d for the number, or %05d for five digits"
            case .secondNumber: "contains two numbers; remove one"
            }
        }
    }

    /// The pattern that appends a hyphen and the vehicle's number to the configured id.
    package static let numbered = VehiclePattern(text: nil, prefix: "", suffix: "", width: 1, hasNumber: true)

    /// The pattern as the user wrote it; `nil` for `numbered`.
    private let text: String?
    private let prefix: String
    private let suffix: String
    /// The minimum number of digits. Shorter numbers get leading zeros.
    private let width: Int
    package let hasNumber: Bool
}

extension VehiclePattern {
    /// Parses a string with at most one `%d` or, for N digits with leading zeros, `%0Nd`.
    package init(_ text: String) throws(Problem) {
        let parts = text.split(separator: "%", omittingEmptySubsequences: false)
        guard parts.count > 1 else {
            self.init(text: text, prefix: text, suffix: "", width: 1, hasNumber: false)
            return
        }
        let digits = parts[1].prefix { $0.isASCII && $0.isNumber }
        let rest = parts[1].dropFirst(digits.count)
        let width = digits.isEmpty ? 1 : digits.count == 2 && digits.first == "0" ? Int(digits) ?? 0 : 0
        guard rest.first == "d", width > 0 else {
            throw .conversion("%\(digits)\(rest.first.map(String.init) ?? "")")
        }
        guard parts.count == 2 else {
            let next = parts[2].prefix { $0.isASCII && $0.isNumber || $0 == "d" }
            throw next.last == "d" ? .secondNumber : .conversion("%\(parts[2].first.map(String.init) ?? "")")
        }
        self.init(
            text: text, prefix: String(parts[0]), suffix: String(rest.dropFirst()), width: width, hasNumber: true)
    }

    /// Returns the id of the vehicle with the given number.
    func id(number: Int, configuredID: String) -> String {
        guard let text else { return "\(configuredID)-\(number)" }
        guard hasNumber else { return text }
        let digits = String(number)
        return prefix + String(repeating: "0", count: max(0, width - digits.count)) + digits + suffix
    }

    package var description: String { text ?? "ID-%d" }
}
