import GNSS
import ReportedText
import Reporting
import TimeAndRandomness

/// A decoder of gpsd's JSON objects, one per line. NMEA sentences between them are ignored.
struct GPSDDecoder: LineDecoder {
    private var splitter = LineSplitter()
    private var session: GPSDSession
    /// The program at the other end, if the first bytes reveal it; otherwise `nil`.
    private var speaker: OtherSpeaker?
    private var hasBegun = false
    private var hasObjects = false
    private var hasSentences = false

    init(_ session: GPSDSession = GPSDSession()) { self.session = session }

    mutating func decode(_ bytes: Span<UInt8>, at now: Duration, _ emit: (Fix) -> Void) -> Int {
        var proofs = 0
        if !hasBegun, bytes.count > 0 {
            hasBegun = true
            speaker = OtherSpeaker(bytes)
        }
        splitter.split(bytes) { line in
            if line.first == UInt8(ascii: "{") { hasObjects = true }
            if line.first == UInt8(ascii: "$") { hasSentences = true }
            if let report = GPSDReport(line), session.handle(report, at: now, emit) { proofs += 1 }
        }
        return proofs
    }

    mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) { session.handleIdleLine(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { session.finish(emit) }
    mutating func takeWarning() -> ReceiverWarning? { session.takeWarning() }
    mutating func takeSky(at now: Duration) -> Sky? { session.takeSky() }
    var idleDeadline: Duration? { session.idleDeadline }
    var obstacle: ReceiverFault? { session.obstacle.map { .gpsd($0) } }

    var findings: LineFindings {
        var other: OtherSpeaker?
        if !hasObjects { other = hasSentences ? .nmeaServer : speaker == .gpsd ? nil : speaker }
        let fault = other.map { ReceiverFault.otherSpeaker($0) }
        return LineFindings(otherSpeaker: fault, noiseFault: fault)
    }
}

/// A splitter that divides a stream of bytes into lines of bounded length. Longer lines are skipped.
struct LineSplitter: Sendable {
    /// The maximum length of a line in bytes; gpsd's own lines are at most 10 KiB long.
    private static let maximumLine = 1 << 16

    private var line: [UInt8] = []
    private var isSkipping = false

    /// Adds the next bytes. Calls `deliver` with each line that they complete, without its line feed.
    mutating func split(_ bytes: Span<UInt8>, _ deliver: ([UInt8]) -> Void) {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                if !isSkipping { deliver(line) }
                line.removeAll(keepingCapacity: true)
                isSkipping = false
            } else if line.count == Self.maximumLine {
                line.removeAll()
                isSkipping = true
            } else if !isSkipping {
                line.append(byte)
            }
        }
    }
}

/// The state of one connection to gpsd. It turns gpsd's reports into fixes, or finds the fault that prevents fixes.
///
/// gpsd reports on all of its receivers. The first receiver with a fix is used as long as it has fixes, because
/// alternating fixes from two antennas would make a vehicle jump.
struct GPSDSession: Sendable {
    /// The time without a fix after which another receiver may replace the chosen one.
    private static let receiverHoldTime = Duration.seconds(10)

    /// The path of the configured receiver; `nil` if any receiver may be used.
    private let wantedDevice: String?
    private let dates: NMEADecoderOptions.Dates
    /// Whether gpsd has opened each device, keyed by path; `nil` until gpsd has listed its devices.
    private var devices: [String: Bool]?
    private var chosenDevice: String?
    private var lastFixAt = Duration.zero
    /// The newest HDOP and number of satellites used, from the chosen receiver, or from any receiver while none is
    /// chosen; `nil` until gpsd has reported them.
    private var sky: (device: String, hdop: Double?, satellitesUsed: Int?)?
    /// The satellites in view, if gpsd has listed them since the last call of `takeSky`; otherwise `nil`.
    private var newSky: Sky?
    private var errorEstimate: (device: String, time: UTCTime, radiusMeters: Double)?
    private var assembler = ReportAssembler()
    /// The path of the chosen receiver if gpsd has closed or lost it; `nil` once it is back or another one is chosen.
    private var lostDevice: String?
    private var rejection: ReportedText?
    /// The latest warning about a date that `takeWarning` hasn't returned yet; `nil` if there is none.
    private var warning: ReceiverWarning?

    /// Creates a session for the receiver with the path `device`, or for any receiver if `device` is `nil`.
    init(device: String? = nil, dates: NMEADecoderOptions.Dates = .asStated) {
        wantedDevice = device
        self.dates = dates
    }

    /// Handles the next report. Returns whether it proves that a receiver is connected.
    mutating func handle(_ report: GPSDReport, at now: Duration, _ emit: (Fix) -> Void) -> Bool {
        switch report {
        case .devices(let all):
            devices = all
            return false
        case .device(let path, let isOpen):
            recordDevice(path, isOpen: isOpen, emit)
            return false
        case .rejection(let message):
            rejection = message.loggable
            return false
        case .position(let device, let time, let fix, let obstacle):
            guard isWanted(device) else { return false }
            rejection = nil
            let meant = fix.map { dates.instant(meantBy: $0.timeOfFix) }
            warning = meant?.warning ?? obstacle ?? warning
            if let fix, let time = meant?.instant {
                accept(fix, meantAt: time, of: device, at: now, emit)
            } else if device == chosenDevice {
                assembler.retract(at: time, emit)
            }
        case .sky(let device, let hdop, let satellitesUsed, let satellites):
            guard isWanted(device) else { return false }
            guard chosenDevice == nil || chosenDevice == device else { return true }
            sky = (device, hdop, satellitesUsed)
            newSky = satellites ?? newSky
        case .errors(let device, let time, let radiusMeters):
            guard isWanted(device) else { return false }
            if chosenDevice == nil || chosenDevice == device { errorEstimate = (device, time, radiusMeters) }
        case .other(let device): return isWanted(device)
        }
        return true
    }

    mutating func takeWarning() -> ReceiverWarning? { warning.take() }

    mutating func takeSky() -> Sky? { newSky.take() }

    /// The time at which the current epoch is complete if nothing more arrives; `nil` if no epoch is pending.
    var idleDeadline: Duration? { assembler.idleDeadline }
    mutating func handleIdleLine(at now: Duration, _ emit: (Fix) -> Void) { assembler.handleIdleLine(at: now, emit) }
    mutating func finish(_ emit: (Fix) -> Void) { assembler.complete(emit) }

    /// The reason why there are no fixes, according to gpsd's reports; `nil` if there are fixes or the reason isn't
    /// known.
    var obstacle: GPSDFault? {
        if let rejection { return .requestRejected(rejection) }
        guard chosenDevice == nil, let devices else { return nil }
        if let lostDevice { return .deviceLost(lostDevice.loggable) }
        let names = devices.keys.sorted().map(\.loggable)
        if let wantedDevice, devices[wantedDevice] == nil {
            return .unknownDevice(wantedDevice.loggable, others: names)
        }
        if devices.isEmpty { return .noDevice }
        guard !devices.contains(where: { isWanted($0.key) && $0.value }) else { return nil }
        return .deviceNotOpened(wantedDevice.map { [$0.loggable] } ?? names)
    }

    private func isWanted(_ device: String) -> Bool { wantedDevice == nil || wantedDevice == device }

    private mutating func recordDevice(_ path: String, isOpen: Bool, _ emit: (Fix) -> Void) {
        var known = devices ?? [:]
        if isOpen, known.count < GPSDReport.maximumDevices || known[path] != nil {
            known[path] = true
        } else if !isOpen {
            known[path] = nil
        }
        devices = known
        if isOpen, lostDevice == path { lostDevice = nil }
        if !isOpen, chosenDevice == path {
            assembler.complete(emit)
            assembler = ReportAssembler()
            chosenDevice = nil
            sky = nil
            errorEstimate = nil
            lostDevice = path
        }
    }

    private mutating func accept(
        _ fix: Fix, meantAt time: UTCTime, of device: String, at now: Duration, _ emit: (Fix) -> Void
    ) {
        if device != chosenDevice {
            guard chosenDevice == nil || now - lastFixAt >= Self.receiverHoldTime else { return }
            assembler.complete(emit)
            assembler = ReportAssembler()
            chosenDevice = device
        }
        lastFixAt = now
        lostDevice = nil
        var fix = fix
        if let errorEstimate, errorEstimate.device == device, errorEstimate.time == fix.timeOfFix {
            fix.horizontalAccuracyMeters = errorEstimate.radiusMeters
        }
        if let sky, sky.device == device {
            fix.hdop = sky.hdop
            fix.satellitesUsed = sky.satellitesUsed
        }
        fix.timeOfFix = time
        assembler.add(fix, at: now, emit)
    }
}

extension String {
    /// The text in a form that is safe to log.
    fileprivate var loggable: ReportedText { ReportedText(self, limit: 100) }
}
