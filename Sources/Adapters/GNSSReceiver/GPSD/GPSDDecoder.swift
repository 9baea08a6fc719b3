import GNSS
import ReportedText
import Reporting
import TimeAndChance

/// gpsd's JSON objects, a line each; sentences between them are passed over.
struct GPSDDecoder: LineDecoder {
    private var splitter = LineSplitter()
    private var session: GPSDSession
    /// What sends no reports, by its first bytes.
    private var speaker: OtherSpeaker?
    private var hasBegun = false
    private var hasObjects = false
    private var hasSentences = false

    init(_ session: GPSDSession = GPSDSession()) { self.session = session }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
        var proofs = 0
        if !hasBegun, bytes.count > 0 {
            hasBegun = true
            speaker = OtherSpeaker(bytes)
        }
        splitter.take(bytes) { line in
            if line.first == UInt8(ascii: "{") { hasObjects = true }
            if line.first == UInt8(ascii: "$") { hasSentences = true }
            if let report = GPSDReport(line), session.take(report, at: now, emit) { proofs += 1 }
        }
        return proofs
    }

    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) { session.lineIsIdle(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { session.finish(emit) }
    mutating func takeWarning() -> ReceiverWarning? { session.takeWarning() }
    mutating func takeSky(at now: Duration) -> Sky? { session.takeSky() }
    var idleDeadline: Duration? { session.idleDeadline }
    var obstacle: ReceiverFault? { session.obstacle.map { .gpsd($0) } }
    var causeOfNoise: ReceiverFault? { stranger.map { .otherSpeaker($0) } }

    var stranger: OtherSpeaker? {
        if hasObjects { return nil }
        return hasSentences ? .nmeaServer : speaker == .gpsd ? nil : speaker
    }
}

/// Cuts a stream of bytes into lines of bounded length, wherever the reads cut it.
///
/// A longer line is passed over to its end.
struct LineSplitter: Sendable {
    /// gpsd's own lines end at 10 KiB.
    private static let longestLine = 1 << 16

    private var line: [UInt8] = []
    private var isPassingOver = false

    /// Takes the next bytes and hands out every line that ends in them, without its line feed.
    mutating func take(_ bytes: Span<UInt8>, _ deliver: ([UInt8]) -> Void) {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                if !isPassingOver { deliver(line) }
                line.removeAll(keepingCapacity: true)
                isPassingOver = false
            } else if line.count == Self.longestLine {
                line.removeAll()
                isPassingOver = true
            } else if !isPassingOver {
                line.append(byte)
            }
        }
    }
}

/// What gpsd's reports come to on one connection: whose fixes are taken, which go out, and what keeps them from coming.
///
/// gpsd reports on all of its receivers. The first that has a fix is taken and kept while it has one, for fixes of two
/// antennas in turn would make a vehicle jump.
struct GPSDSession: Sendable {
    /// How long the receiver that was taken may be without a fix before another one takes its place.
    private static let loyalty = Duration.seconds(10)

    /// The only one to take, when it is configured.
    private let wantedDevice: String?
    private let dates: NMEADecoderOptions.Dates
    /// By path, whether gpsd has them open; `nil` until it has told.
    private var devices: [String: Bool]?
    private var chosen: String?
    private var lastFixAt = Duration.zero
    /// The newest of the chosen receiver, or of any while none is chosen.
    private var sky: (device: String, hdop: Double?, satellitesUsed: Int?)?
    /// The satellites that have been listed since they were last taken.
    private var seen: Sky?
    private var errors: (device: String, time: UTCTime, radiusMeters: Double)?
    private var assembler = ReportAssembler()
    /// The receiver that gpsd has closed or lost, and that none has replaced.
    private var lost: String?
    private var refusal: ReportedText?
    /// What the dates of the last report were found guilty of.
    private var warning: ReceiverWarning?
    /// The receiver that has reported, but nothing that can be a fix, and whether that is for its dates.
    private var unfixed: (device: String, hasPastDates: Bool)?

    /// `device` is the path by which gpsd knows the receiver; any will do when it is `nil`.
    init(device: String? = nil, dates: NMEADecoderOptions.Dates = .asStated) {
        wantedDevice = device
        self.dates = dates
    }

    /// Takes the next report; `true` when it proves that there is a receiver.
    mutating func take(_ report: GPSDReport, at now: Duration, _ emit: (Fix) -> Void) -> Bool {
        switch report {
        case .devices(let all):
            devices = all
            return false
        case .device(let path, let isOpen):
            note(path, isOpen: isOpen, emit)
            return false
        case .refusal(let words):
            refusal = words.shown
            return false
        case .position(let device, let time, let fix):
            guard isWanted(device) else { return false }
            refusal = nil
            let meant = fix.map { dates.instant(meantBy: $0.timeOfFix) }
            warning = meant?.warning ?? warning
            if let fix, let time = meant?.instant {
                take(fix, meantAt: time, of: device, at: now, emit)
            } else {
                if device == chosen { assembler.takeBack(at: time, emit) }
                unfixed = (device, hasPastDates: fix != nil)
            }
        case .sky(let device, let hdop, let satellitesUsed, let satellites):
            guard isWanted(device) else { return false }
            guard chosen == nil || chosen == device else { return true }
            sky = (device, hdop, satellitesUsed)
            seen = satellites ?? seen
        case .errors(let device, let time, let radiusMeters):
            guard isWanted(device) else { return false }
            if chosen == nil || chosen == device { errors = (device, time, radiusMeters) }
        case .other(let device): return isWanted(device)
        }
        return true
    }

    /// What the receiver's dates have been found guilty of since the last call.
    mutating func takeWarning() -> ReceiverWarning? { warning.take() }

    /// The satellites that the receiver sees, if gpsd has listed them since the last call.
    mutating func takeSky() -> Sky? { seen.take() }

    /// See `ReportAssembler`.
    var idleDeadline: Duration? { assembler.idleDeadline }
    mutating func lineIsIdle(at now: Duration, _ emit: (Fix) -> Void) { assembler.lineIsIdle(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { assembler.complete(emit) }

    /// What keeps fixes from coming, as far as gpsd has reported; `nil` once one has come.
    var obstacle: GPSDFault? {
        if let refusal { return .requestRejected(refusal) }
        guard chosen == nil, let devices else { return nil }
        if let lost { return .deviceLost(lost.shown) }
        if let unfixed {
            let device = unfixed.device.shown
            return unfixed.hasPastDates ? .pastDates(device) : .noPosition(device)
        }
        let names = devices.keys.sorted().map(\.shown)
        if let wantedDevice, devices[wantedDevice] == nil {
            return .unknownDevice(wantedDevice.shown, others: names)
        }
        if devices.isEmpty { return .noDevice }
        guard !devices.contains(where: { isWanted($0.key) && $0.value }) else { return nil }
        return .deviceNotOpened(wantedDevice.map { [$0.shown] } ?? names)
    }

    private func isWanted(_ device: String) -> Bool { wantedDevice == nil || wantedDevice == device }

    private mutating func note(_ path: String, isOpen: Bool, _ emit: (Fix) -> Void) {
        var known = devices ?? [:]
        if isOpen, known.count < GPSDReport.mostDevices || known[path] != nil {
            known[path] = true
        } else if !isOpen {
            known[path] = nil
        }
        devices = known
        if isOpen, lost == path { lost = nil }
        if !isOpen, unfixed?.device == path { unfixed = nil }
        if !isOpen, chosen == path {
            assembler.complete(emit)
            assembler = ReportAssembler()
            chosen = nil
            sky = nil
            errors = nil
            lost = path
        }
    }

    private mutating func take(
        _ fix: Fix, meantAt time: UTCTime, of device: String, at now: Duration, _ emit: (Fix) -> Void
    ) {
        if device != chosen {
            guard chosen == nil || now - lastFixAt >= Self.loyalty else { return }
            assembler.complete(emit)
            assembler = ReportAssembler()
            chosen = device
        }
        lastFixAt = now
        lost = nil
        unfixed = nil
        var fix = fix
        if let errors, errors.device == device, errors.time == fix.timeOfFix {
            fix.horizontalAccuracyMeters = errors.radiusMeters
        }
        if let sky, sky.device == device {
            fix.hdop = sky.hdop
            fix.satellitesUsed = sky.satellitesUsed
        }
        fix.timeOfFix = time
        assembler.take(fix, at: now, emit)
    }
}

extension String {
    /// Fit for a log line, whoever has sent it.
    fileprivate var shown: ReportedText { ReportedText(self, limit: 100) }
}
