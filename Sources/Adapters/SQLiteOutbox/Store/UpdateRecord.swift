import Reporting
import TimeAndChance

/// A row of a pending update.
struct UpdateRecord: Sendable, Hashable {
    let stored: StoredUpdate
    /// Which update was the newest by time of fix once this one was accepted: most often itself. With it an append
    /// needs no change of the ledger's row, and opening finds the newest without reading the backlog.
    let newestSequence: Int64

    var bytes: [UInt8] {
        var writer = RecordWriter()
        writer.write(stored.sequence - newestSequence)
        stored.update.write(into: &writer)
        return SealedRecord.seal(.update, id: stored.sequence, payload: writer.bytes)
    }

    init(_ stored: StoredUpdate, newestSequence: Int64) {
        (self.stored, self.newestSequence) = (stored, newestSequence)
    }

    /// `nil` when the bytes are not what was written for this sequence.
    init?(_ bytes: ArraySlice<UInt8>, sequence: Int64) {
        guard RecordReader.plausibleSequences.contains(sequence),
            case (.update, var reader)? = SealedRecord.open(bytes, id: sequence), let distance = reader.count(),
            let update = LocationUpdate(from: &reader)
        else { return nil }
        self.init(StoredUpdate(sequence: sequence, update: update), newestSequence: sequence - distance)
    }
}

/// How an update is stored: about 30 bytes as receivers state positions, never more than 60, and nothing is rounded.
extension LocationUpdate {
    /// Each number is a decimal (an integer of 10⁻⁷ degrees, or of millimetres) when that gives back the same `Double`,
    /// and its 8 bytes otherwise; absent ones take no byte.
    func write(into writer: inout RecordWriter) {
        let numbers: [(value: Double?, scale: Double)] = [
            (latitude, Self.degreeScale), (longitude, Self.degreeScale), (altitudeMeters, Self.meterScale),
            (speedMetersPerSecond, Self.meterScale), (horizontalAccuracyMeters, Self.meterScale),
        ]
        let decimals = numbers.map { Self.decimal($0.value, scale: $0.scale) }
        var flags: UInt64 = headingDegrees == nil ? 0 : 1
        for (index, number) in numbers.enumerated() where number.value != nil {
            flags |= (decimals[index] == nil ? 2 : 1) << UInt64(1 + 2 * index)
        }
        writer.write(flags)
        writer.write(timeOfFix.millisecondsSince1970)
        if let headingDegrees { writer.write(Int64(headingDegrees)) }
        for (number, decimal) in zip(numbers, decimals) {
            guard let value = number.value else { continue }
            if let decimal { writer.write(decimal) } else { writer.write(bitsOf: value) }
        }
    }

    init?(from reader: inout RecordReader) {
        guard let flags = reader.unsigned(), let time = reader.time() else { return nil }
        var heading: Int?
        if flags & 1 == 1 {
            guard let value = reader.signed(), 0..<360 ~= value else { return nil }
            heading = Int(value)
        }
        var numbers: [Double?] = []
        for index in 0..<5 {
            let scale = index < 2 ? Self.degreeScale : Self.meterScale
            switch flags >> UInt64(1 + 2 * index) & 3 {
            case 0: numbers.append(nil)
            case 1:
                guard let decimal = reader.signed() else { return nil }
                numbers.append(Double(decimal) / scale)
            case 2:
                guard let value = reader.double() else { return nil }
                numbers.append(value)
            default: return nil
            }
        }
        guard let latitude = numbers[0], let longitude = numbers[1], abs(latitude) <= 90, abs(longitude) <= 180,
            numbers.allSatisfy({ abs($0 ?? 0) <= Self.largestNumber })
        else { return nil }
        self.init(timeOfFix: time, latitude: latitude, longitude: longitude)
        headingDegrees = heading
        (altitudeMeters, speedMetersPerSecond, horizontalAccuracyMeters) = (numbers[2], numbers[3], numbers[4])
    }

    private static let degreeScale = 1e7
    private static let meterScale = 1e3
    /// A larger number may become infinite where it is rounded for the wire.
    private static let largestNumber = 1e300

    /// `nil` when an integer of that scale would not give back the same number.
    private static func decimal(_ value: Double?, scale: Double) -> Int64? {
        guard let value, abs(value) < 1e9 else { return nil }
        let scaled = (value * scale).rounded()
        return scaled / scale == value ? Int64(scaled) : nil
    }
}
