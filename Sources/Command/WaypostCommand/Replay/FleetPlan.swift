import FleetEngine
import GNSSReceiver
import TimeAndChance
import Operations

/// The vehicles of a replay: how many there are, their ids, and the offsets of their drives in time and position.
///
/// Ids and offsets are derived from the vehicles' numbers, so that several machines can each replay a part of one
/// fleet.
struct FleetPlan: Sendable, Equatable {
    private static let maximumCount = 100_000
    private static let maximumNumber = 999_999_999

    var count = 1
    private var firstNumber = 1
    /// The pattern of the vehicle ids. If it is `nil`, the ids are derived from the configured id. With several
    /// vehicles, the vehicle's number is appended.
    private var pattern: VehiclePattern?
    /// The period, in seconds, over which the starts of the vehicles are spread; `nil` selects one update interval.
    private var spreadSeconds: Double?
    private var spreadMeters = 0.0

    /// Creates a plan with only the configured vehicle.
    init() {}

    init(_ arguments: Arguments) throws(UsageError) {
        count = try Self.wholeNumber(for: "--vehicles", in: arguments, range: 1...Self.maximumCount) ?? 1
        firstNumber = try Self.wholeNumber(for: "--first-vehicle", in: arguments, range: 0...Self.maximumNumber) ?? 1
        guard firstNumber <= Self.maximumNumber - (count - 1) else {
            throw Self.usageError(
                "--first-vehicle is \(firstNumber), so the last of \(count) vehicles would have a number above \(Self.maximumNumber)"
            )
        }
        if let text = arguments.value("--vehicle-id") {
            do { pattern = try VehiclePattern(text) } catch { throw Self.usageError("--vehicle-id \(text) \(error)") }
        } else if count == 1, arguments.value("--first-vehicle") != nil {
            pattern = VehiclePattern.numbered
        }
        if count > 1, let pattern, !pattern.hasNumber {
            throw Self.usageError(
                "--vehicle-id \(pattern) gives \(count) vehicles the same id; add %d, or %05d for five digits")
        }
        spreadSeconds = try Self.number(for: "--spread-seconds", in: arguments, upTo: 86_400)
        if spreadSeconds != nil, arguments.value("--vehicles") == nil {
            throw Self.usageError("--spread-seconds spreads the starts of several vehicles; add --vehicles N")
        }
        spreadMeters = try Self.number(for: "--spread-meters", in: arguments, upTo: 1_000_000) ?? 0
    }

    /// Returns the names of the vehicles in the order of their numbers. `vehicle` is the configured vehicle.
    ///
    /// - Throws: `UsageError` if the pattern produces an invalid id, or `AgentError` if the configured id with a number
    ///   is invalid.
    func names(for vehicle: VehicleName) throws -> [VehicleName] {
        guard count > 1 || pattern != nil else { return [vehicle] }
        var names: [VehicleName] = []
        for number in numbers {
            let id = (pattern ?? .numbered).id(number: number, configuredID: vehicle.vehicleID)
            do {
                names.append(try VehicleName(service: vehicle.service, providerID: vehicle.providerID, vehicleID: id))
            } catch {
                if let given = pattern, given != .numbered {
                    throw Self.usageError("--vehicle-id \(given): the vehicle id \"\(id)\" \(error)")
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

    private static func wholeNumber(
        for option: String, in arguments: Arguments, range: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw usageError("\(option) is \(text); use \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func number(
        for option: String, in arguments: Arguments, upTo limit: Double
    ) throws(UsageError) -> Double? {
        guard let text = arguments.value(option) else { return nil }
        guard let value = Double(text), (0...limit).contains(value) else {
            throw usageError("\(option) is \(text); use a number from 0 to \(Int(limit))")
        }
        return value
    }

    private static func usageError(_ problem: String) -> UsageError { UsageError(problem, command: "replay") }
}

/// A pattern for vehicle ids, such as `van-%05d`.
struct VehiclePattern: Sendable, Equatable, CustomStringConvertible {
    /// A reason why a pattern is invalid. Error messages show the pattern, followed by the description.
    enum Problem: Error, CustomStringConvertible {
        case conversion(String)
        case secondNumber

        var description: String {
            switch self {
            case .conversion(let text): "contains \(text); use %d for the number, or %05d for five digits"
            case .secondNumber: "contains two numbers; remove one"
            }
        }
    }

    /// The pattern that appends a hyphen and the vehicle's number to the configured id.
    static let numbered = VehiclePattern(text: nil, prefix: "", suffix: "", width: 1, hasNumber: true)

    /// The pattern as the user wrote it; `nil` for `numbered`.
    private let text: String?
    private let prefix: String
    private let suffix: String
    /// The minimum number of digits. Shorter numbers get leading zeros.
    private let width: Int
    let hasNumber: Bool
}

extension VehiclePattern {
    /// Parses a string with at most one `%d` or, for N digits with leading zeros, `%0Nd`.
    init(_ text: String) throws(Problem) {
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

    var description: String { text ?? "ID-%d" }
}
