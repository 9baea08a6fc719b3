import TimeAndRandomness

// Built as one module with the code under test; see scripts/fuzz-gpsd.

/// Tests one input of libFuzzer. Its first byte determines how the rest is cut, the second whether dates are repaired
/// and a receiver is selected.
///
/// No input may trap, no result may depend on the cuts, every fix must be possible on earth, and an obstacle's text
/// must be short.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGPSD(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 2 else { return 0 }
    let (first, second) = unsafe (start[0], start[1])
    let input = unsafe Array(UnsafeBufferPointer(start: start + 2, count: count - 2))
    let session = GPSDSession(
        device: second & 1 == 0 ? nil : "/dev/a",
        dates: second & 2 == 0
            ? .asStated
            : .repaired(
                reference: { UTCTime(year: 2026, month: 1, day: 1) }, earliest: UTCTime(year: 2026, month: 1, day: 1)))
    let whole = decode(input, pieceLength: input.count, startingWith: session)
    let cut = decode(input, pieceLength: Int(first % 64) + 1, startingWith: session)
    precondition(whole.fixes == cut.fixes, "cutting changed the fixes")
    precondition(whole.obstacle == cut.obstacle, "cutting changed the obstacle")
    precondition(whole.fixes.allSatisfy(isPossible), "an impossible fix")
    precondition("\(String(describing: whole.obstacle))".utf8.count < 8192, "the obstacle's text is too long")
    exerciseLiveLine(input, pieceLength: Int(first % 64) + 1, session)
    return 0
}

private func decode(
    _ input: [UInt8], pieceLength: Int, startingWith initialSession: GPSDSession
) -> (fixes: [Fix], obstacle: GPSDFault?) {
    var (splitter, session) = (LineSplitter(), initialSession)
    var fixes: [Fix] = []
    for from in stride(from: 0, to: input.count, by: pieceLength) {
        splitter.split(input.span.extracting(from..<min(input.count, from + pieceLength))) { line in
            guard let report = GPSDReport(line) else { return }
            _ = session.handle(report, at: .zero) { fixes.append($0) }
        }
    }
    session.finish { fixes.append($0) }
    return (fixes, session.obstacle)
}

/// Decodes with pauses between the pieces. The fixes may differ, but decoding must not trap.
private func exerciseLiveLine(_ input: [UInt8], pieceLength: Int, _ session: GPSDSession) {
    var decoder = GPSDDecoder(session)
    var now = Duration.zero
    for from in stride(from: 0, to: input.count, by: pieceLength) {
        let piece = input.span.extracting(from..<min(input.count, from + pieceLength))
        _ = decoder.decode(piece, at: now, require)
        now += .milliseconds(Int(piece[0]) * 2)
        if let deadline = decoder.idleDeadline, deadline <= now { decoder.handleIdleLine(at: now, require) }
    }
    decoder.finish(require)
}

private func require(_ fix: Fix) { precondition(isPossible(fix), "an impossible fix") }

private func isPossible(_ fix: Fix) -> Bool {
    (-90...90).contains(fix.latitude) && (-180...180).contains(fix.longitude)
        && (0..<360).contains(fix.headingDegrees ?? 0) && (0...515).contains(fix.speedMetersPerSecond ?? 0)
        && (fix.horizontalAccuracyMeters ?? 1) > 0 && fix.quality != .simulated && fix.quality != .manual
}
