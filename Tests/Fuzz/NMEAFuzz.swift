import TimeAndRandomness

// Built together with the sources of GNSS as one module; see scripts/fuzz-nmea.

/// Tests one input of libFuzzer. Its first byte determines how the rest is cut, the second which options are on.
///
/// No input may trap, the fixes must not depend on the cuts, every fix must be possible on earth, the number of fixes
/// is bounded by the input, and the trace of a log has as many fixes as the decoder.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNMEA(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 2 else { return 0 }
    let (first, second) = unsafe (start[0], start[1])
    let present = UTCTime(year: 2026, month: 1, day: 1)
    let options = NMEADecoderOptions(
        dates: second & 1 == 0 ? .asStated : .repaired(reference: { present }, earliest: present),
        acceptsMissingChecksum: second & 2 != 0)
    let input = unsafe Array(UnsafeBufferPointer(start: start + 2, count: count - 2))
    let whole = fixes(of: input, pieceLength: input.count, options)
    let cut = fixes(of: input, pieceLength: Int(first % 64) + 1, options)
    precondition(whole.fixes == cut.fixes, "cutting changed the fixes")
    precondition(whole.written == cut.written, "cutting changed the output")
    // The shortest sentence that can produce a fix is longer than 30 bytes.
    precondition(whole.fixes.count * 30 <= input.count, "more fixes than sentences")
    precondition(whole.fixes.allSatisfy(isPossible), "an impossible fix")
    #if TRACED
        if second & 0x1C == 0x1C {
            let count = tracedFixCount(of: input, pieceLength: Int(first % 64) + 1, options)
            precondition(count == whole.fixes.count, "the trace disagrees")
        }
    #endif
    exerciseLiveLine(input, pieceLength: Int(first % 64) + 1, options)
    return 0
}

private func fixes(
    of input: [UInt8], pieceLength: Int, _ options: NMEADecoderOptions
) -> (fixes: [Fix], written: [UInt8]) {
    var decoder = NMEADecoder(options: options)
    var fixes: [Fix] = []
    var written: [UInt8] = []
    for from in stride(from: 0, to: input.count, by: pieceLength) {
        let piece = input.span.extracting(from..<min(input.count, from + pieceLength))
        decoder.decode(piece, receivedAt: .zero) { fixes.append($0) }
    }
    decoder.finish { fixes.append($0) }
    for fix in fixes {
        JSONLinesFormat.append(fix, to: &written)
        CSVFormat.append(fix, to: &written)
    }
    let statistics = decoder.statistics
    precondition(statistics.epochs.fixes == fixes.count && statistics.bytes == input.count, "the statistics are wrong")
    return (fixes, written)
}

/// Returns the number of fixes in a trace of all lines. Neither the trace nor its explanation may trap.
private func tracedFixCount(of input: [UInt8], pieceLength: Int, _ options: NMEADecoderOptions) -> Int {
    var trace = LogTrace(lines: 1...Int.max, options: options)
    for from in stride(from: 0, to: input.count, by: pieceLength) {
        trace.read(input.span.extracting(from..<min(input.count, from + pieceLength)))
    }
    trace.finish()
    precondition(!trace.explanation.isEmpty, "the explanation is empty")
    return trace.epochs.values.count { $0.fix != nil }
}

/// Decodes with pauses between the pieces. The fixes may differ from those of a recorded log, but decoding must not
/// trap.
private func exerciseLiveLine(_ input: [UInt8], pieceLength: Int, _ options: NMEADecoderOptions) {
    var live = options
    live.readsSky = true
    var decoder = NMEADecoder(options: live)
    var now = Duration.zero
    for from in stride(from: 0, to: input.count, by: pieceLength) {
        let piece = input.span.extracting(from..<min(input.count, from + pieceLength))
        decoder.decode(piece, receivedAt: now) { precondition(isPossible($0), "an impossible fix") }
        now += .milliseconds(Int(piece[0]) * 2)
        if let deadline = decoder.idleDeadline, deadline <= now {
            decoder.handleIdleLine(at: now) { precondition(isPossible($0), "an impossible fix") }
        }
        precondition(decoder.takeSky(at: now)?.satellites.allSatisfy(isPossible) ?? true, "an impossible satellite")
    }
}

private func isPossible(_ satellite: Satellite) -> Bool {
    (1...999).contains(satellite.id.number) && (-90...90).contains(satellite.elevationDegrees ?? 0)
        && (0..<360).contains(satellite.azimuthDegrees ?? 0) && (1...99).contains(satellite.signalDecibelHertz ?? 1)
}

private func isPossible(_ fix: Fix) -> Bool {
    (-90...90).contains(fix.latitude) && (-180...180).contains(fix.longitude)
        && (0..<360).contains(fix.headingDegrees ?? 0) && (0...515).contains(fix.speedMetersPerSecond ?? 0)
        && (fix.horizontalAccuracyMeters ?? 1) > 0 && fix.timeOfFix >= UTCTime(year: 1979, month: 12, day: 31)
}
