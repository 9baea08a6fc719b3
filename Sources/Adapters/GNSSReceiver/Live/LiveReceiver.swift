import GNSS
import LinuxPlatform
import ReportedText
package import Reporting

/// A source of fixes from a live receiver. One thread reads and decodes; one task delivers the newest fix.
package struct LiveReceiver: FixSource {
    let endpoint: any ReceiverEndpoint
    /// A decoder in its initial state. A copy of it is used each time the line is opened.
    let decoder: any LineDecoder
    /// The minimum time without a sentence after which the line is reported as faulty (see `LineWatch`).
    var timeout = Duration.seconds(5)
    /// The time without a position after which the line is reported, although sentences arrive (see `PositionWatch`).
    var positionTimeout = Duration.seconds(60)
    var schedule = ReopenSchedule()
    var progress: (any ReceiverProgress)?
    var tap: (any ReceiverTap)?

    /// Runs until the task is cancelled, or until a line that can't be reopened has ended. When this returns or throws,
    /// the thread has ended and the line is closed.
    package func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {
        let stop = try EventDescriptor.forReceiver()
        let mailbox = EventMailbox()
        let failure = Locked<FixSourceError?>(nil)
        await withTaskCancellationHandler {
            async let reading: Void = onThread(named: "gnss-receiver") {
                var loop = ReceiverLoop(receiver: self, stop: stop, mailbox: mailbox)
                do throws(FixSourceError) { try loop.run() } catch {
                    failure.withLock { $0 = error }
                }
                progress?.threadEnded()
                mailbox.close()
            }
            for await _ in mailbox.arrivals {
                for event in mailbox.takeEvents() { await deliver(event) }
            }
            await reading
        } onCancel: {
            stop.signal()
        }
        if Task.isCancelled { throw FixSourceError(log: endpoint.name, .stopped) }
        for event in mailbox.takeEvents() { await deliver(event) }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension EventDescriptor {
    /// Creates the signal that stops a receiver.
    static func forReceiver() throws(FixSourceError) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch {
            throw FixSourceError(log: "the receiver", .notOpened(.other(error.description)))
        }
    }
}

/// The loop of a live receiver's thread: opens, polls, reads, decodes, and starts over after each loss.
private struct ReceiverLoop {
    /// The reason why a line is no longer read.
    private enum Termination {
        case stopped
        case endOfInput
        /// The line ended before the first sentence. The fault says why the bytes weren't sentences; `nil` if that
        /// isn't known.
        case endedWithoutSentence(ReceiverFault?)
        case lost(ReceiverFault)
        /// The line has been without a sentence for so long that it should be reopened.
        case overdue
    }

    /// The condition of an open line, and the obstacle to its fixes; `nil` if there is no obstacle.
    private struct LineAssessment: Equatable {
        let condition: LineWatch.Condition
        let obstacle: ReceiverFault?
    }

    private let receiver: LiveReceiver
    /// The receiver's name in its reported states.
    private let name: ReportedText
    private let stop: EventDescriptor
    private let mailbox: EventMailbox
    /// The buffer for reads, with room for a datagram of any size. A read from a tty returns at most 4 KiB.
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var reopening: ReopenWait
    private var positionWatch: PositionWatch
    private var interval = Duration.zero
    private var lastReportedState: ReceiverState?
    /// Whether the line is reopened because no sentences arrived. Such an opening isn't reported.
    private var isReopenedAfterSilence = false
    /// The decoder's counts from a line that can't be reopened; `nil` until the line has ended.
    private var statistics: DecoderStatistics?

    init(receiver: LiveReceiver, stop: EventDescriptor, mailbox: EventMailbox) {
        self.receiver = receiver
        name = ReportedText(receiver.endpoint.name)
        self.stop = stop
        self.mailbox = mailbox
        reopening = ReopenWait(schedule: receiver.schedule)
        positionWatch = PositionWatch(timeout: receiver.positionTimeout)
    }

    private var endpoint: any ReceiverEndpoint { receiver.endpoint }
    private var progress: (any ReceiverProgress)? { receiver.progress }
    private var tap: (any ReceiverTap)? { receiver.tap }

    /// Runs until stopped, or until the end of an input that can't be reopened.
    mutating func run() throws(FixSourceError) {
        while true {
            progress?.loopIterated()
            switch openAndReceive() {
            case .stopped: return
            case .endOfInput where !endpoint.canReopen:
                let outcomes = statistics.map { [LogOutcome(name: endpoint.name, statistics: $0)] }
                if let failure = outcomes.flatMap({ LogOutcome.failure(of: $0, isRecorded: false) }) { throw failure }
                return report(.ended(source: name))
            case .lost(let fault) where !endpoint.canReopen:
                throw FixSourceError(.readFailed, source: endpoint.name, fault)
            case .overdue:
                isReopenedAfterSilence = true
                continue
            case .endedWithoutSentence(let fault) where !endpoint.canReopen:
                throw FixSourceError(.notALog, source: endpoint.name, fault)
            case .endedWithoutSentence(let fault?):
                report(fault)
                isReopenedAfterSilence = true
                guard waitToReopen() else { return }
                continue
            case .endOfInput, .endedWithoutSentence: report(.closedByOtherSide)
            case .lost(let fault): report(fault)
            }
            isReopenedAfterSilence = false
            guard waitToReopen() else { return }
        }
    }

    /// Waits until opening the line should be tried again. Returns `false` if stopped.
    private mutating func waitToReopen() -> Bool {
        do throws(SystemError) { return try reopening.wait(for: endpoint, unless: stop) } catch {
            return true  // the next wait may succeed
        }
    }

    /// Opens the line and reads it until it ends, is lost or must be reopened. The line is closed when this returns.
    private mutating func openAndReceive() -> Termination {
        do throws(ReceiverOpenError) { return receive(from: try endpoint.open(stoppingOn: stop)) } catch {
            switch error {
            case .failed(let fault): return .lost(fault)
            case .stopped: return .stopped
            }
        }
    }

    private mutating func receive(from line: any ReceiverLine) -> Termination {
        let watch = LineWatch(
            openedAt: MonotonicTime.now, interval: interval, timeout: receiver.timeout, trial: line.trial?.limit)
        var session = LineSession(decoder: receiver.decoder, watch: watch)
        var pace = ReadPace(openedAt: MonotonicTime.now)
        var assessment: LineAssessment?
        positionWatch.startOver()
        tap?.lineOpened()
        defer {
            interval = session.watch.interval
            if session.watch.hasSentence { reopening.recordGoodLine() }
            if let last = session.finish() {
                notifyObservers(of: last)
                mailbox.post(.fix(last))
            }
            if !endpoint.canReopen { statistics = session.findings.statistics }
            while let warning = session.takeWarning() { mailbox.post(.warning(warning)) }
        }
        while true {
            progress?.loopIterated()
            let now = MonotonicTime.now
            if checkOverdue(line, in: session, at: now) { return .overdue }
            let next = LineAssessment(condition: session.watch.condition(at: now), obstacle: session.obstacle)
            report(next, after: assessment, of: line, in: session, at: now)
            assessment = next
            let wakeUp = session.nextWakeUp(after: now)
            let pause = min(wakeUp, positionWatch.nextChange(after: now) ?? wakeUp) - now
            let readPause = pace.pauseDuration(at: now)
            let outcome =
                readPause > .zero
                ? wait(on: nil, for: readPause) : wait(on: line, for: min(pause, ReceiverPace.maximumTurnTime))
            switch outcome {
            case .failure(let error): return .lost(.lost("\(error)"))
            case .success(.stopped): return .stopped
            case .success(.timedOut) where readPause > .zero: continue
            case .success(.timedOut):
                guard let fix = session.handleIdleLine(at: MonotonicTime.now) else { continue }
                positionWatch.recordSentences(withPosition: true, at: MonotonicTime.now)
                notifyObservers(of: fix)
                mailbox.post(.fix(fix))
            case .success(.ready(let isHungUp)):
                if let termination = drain(line, isHungUp: isHungUp, into: &session, at: &pace) {
                    return refined(termination, using: session)
                }
            }
        }
    }

    /// Returns a more precise reason than `termination` if the bytes of the line reveal one; otherwise `termination`.
    private func refined(_ termination: Termination, using session: LineSession) -> Termination {
        switch termination {
        case .endOfInput where !session.watch.hasSentence:
            let findings = session.findings
            return .endedWithoutSentence(endpoint.canReopen ? findings.otherSpeaker : findings.noiseFault)
        // A program other than a receiver may reset the connection because it doesn't understand the request.
        case .lost where endpoint.canReopen:
            return session.findings.otherSpeaker.map { .endedWithoutSentence($0) } ?? termination
        default: return termination
        }
    }

    /// Returns whether the line must be reopened because no sentences arrive. Reports a fault if all baud rates have
    /// been tried.
    private mutating func checkOverdue(_ line: any ReceiverLine, in session: LineSession, at now: Duration) -> Bool {
        guard endpoint.canReopen, session.watch.isOverdue(at: now) else { return false }
        if let fault = line.trial?.recordClosing(after: session.evidence) { report(fault) }
        return true
    }

    /// Reports the changes since the last assessment.
    private mutating func report(
        _ assessment: LineAssessment, after last: LineAssessment?, of line: any ReceiverLine, in session: LineSession,
        at now: Duration
    ) {
        if let obstacle = assessment.obstacle {
            report(obstacle)
        } else if assessment != last {
            report(assessment.condition, of: line, in: session)
        } else if assessment.condition == .receiving {
            report(positionsOn: line, in: session, at: now)
        }
    }

    /// Reads all available bytes, or as many as `pace` allows, and posts the newest fix. Returns the reason why the
    /// line must no longer be read; `nil` if there is none.
    private mutating func drain(
        _ line: any ReceiverLine, isHungUp: Bool, into session: inout LineSession, at pace: inout ReadPace
    ) -> Termination? {
        var newest: Fix?
        let hadSentence = session.watch.hasSentence
        defer {
            let now = MonotonicTime.now
            if session.watch.hasSentence, !hadSentence { line.trial?.recordFirstSentence() }
            if session.obstacle == nil, session.watch.condition(at: now) == .receiving {
                positionWatch.recordSentences(withPosition: newest != nil, at: now)
                report(positionsOn: line, in: session, at: now)
            }
            while let warning = session.takeWarning() { mailbox.post(.warning(warning)) }
            if let sky = session.takeSky(at: now) { mailbox.post(.sky(sky)) }
            if let newest { mailbox.post(.fix(newest)) }
        }
        while pace.mayRead {
            let read: LineRead
            do throws(SystemError) {
                var span = buffer.mutableSpan
                read = try line.read(into: &span)
            } catch {
                return .lost(.lost("\(error.reason)"))
            }
            switch read {
            case .end: return .endOfInput
            case .nothingYet where isHungUp: return .lost(.lost("hung up"))
            case .nothingYet: return nil
            case .bytes(let count):
                tap?.bytesReceived(buffer.span.extracting(first: count))
                let fix = session.decode(buffer.span.extracting(first: count), at: MonotonicTime.now) {
                    [progress, tap] in
                    progress?.fixMade($0)
                    tap?.fixMade($0)
                }
                pace.recordRead(of: count, withFix: fix != nil)
                newest = fix ?? newest
            }
            guard case .success(.ready) = wait(on: line, for: .zero) else { return nil }
        }
        return nil
    }

    private func notifyObservers(of fix: Fix) {
        progress?.fixMade(fix)
        tap?.fixMade(fix)
    }

    private func wait(on line: (any ReceiverLine)?, for timeout: Duration) -> Result<PollOutcome, SystemError> {
        do throws(SystemError) { return .success(try poll(line?.raw, within: timeout, unless: stop)) } catch {
            return .failure(error)
        }
    }

    private mutating func report(
        _ condition: LineWatch.Condition, of line: any ReceiverLine, in session: LineSession
    ) {
        let limit = session.watch.limit
        switch condition {
        case .opened where isReopenedAfterSilence && line.trial?.isOpeningReported != true: break
        case .opened: report(.starting(source: name, line.start))
        case .receiving: report(positionsOn: line, in: session, at: MonotonicTime.now)
        case .silent: report(session.findings.otherSpeaker ?? endpoint.fault(of: session.silence, for: limit))
        case .noise: report(session.findings.noiseFault ?? endpoint.fault(of: session.noise, for: limit))
        }
    }

    /// Reports whether the arriving sentences provide positions.
    private mutating func report(positionsOn line: any ReceiverLine, in session: LineSession, at now: Duration) {
        if positionWatch.hasReceivedEveryType(at: now), let fault = session.findings.positionFault {
            return report(fault)
        }
        switch positionWatch.condition(at: now) {
        case .good: report(.receiving(source: name, foundBaudRate: line.trial?.rate))
        case .noneYet: report(.noPosition(source: name, hadOne: false))
        case .lost: report(.noPosition(source: name, hadOne: true))
        }
    }

    private mutating func report(_ fault: ReceiverFault) { report(.waiting(source: name, fault)) }

    /// Posts a state if it differs from the last one posted.
    private mutating func report(_ state: ReceiverState) {
        guard state != lastReportedState else { return }
        lastReportedState = state
        mailbox.post(.state(state))
    }
}
