import GNSS
import LinuxPlatform
import ReportedText
package import Reporting

/// Fixes from a live receiver: a thread that reads and decodes, and a task that delivers the newest.
package struct LiveReceiver: FixSource {
    let endpoint: any ReceiverEndpoint
    /// Starts over with each opening of the line.
    let decoder: any LineDecoder
    /// How long a line may be without a sentence before that is reported (see `LineWatch`).
    var patience = Duration.seconds(5)
    /// How long sentences may come without a position before that is reported (see `PositionWatch`).
    var positionPatience = Duration.seconds(60)
    /// When a lost line is opened again, unless something tells that it is back.
    var schedule = ReopenSchedule()
    /// Notified of each turn of the thread.
    var progress: (any ReceiverProgress)?
    /// Notified of what the thread reads.
    var tap: (any ReceiverTap)?

    /// When this returns or throws, the thread has ended and the line is closed.
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
                progress?.ended()
                mailbox.close()
            }
            for await _ in mailbox.arrivals {
                for event in mailbox.take() { await deliver(event) }
            }
            await reading
        } onCancel: {
            stop.signal()
        }
        if Task.isCancelled { throw FixSourceError(log: endpoint.name, .stopped) }
        for event in mailbox.take() { await deliver(event) }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension EventDescriptor {
    /// The signal by which a receiver is stopped.
    static func forReceiver() throws(FixSourceError) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch {
            throw FixSourceError(log: "the receiver", .notOpened(.other(error.description)))
        }
    }
}

/// What a live receiver's thread does: open, poll, read, decode, and begin again after each loss.
private struct ReceiverLoop {
    /// Why the line is no longer read.
    private enum Ending {
        case stopped
        case endOfInput
        /// The line has ended before a sentence came; what was wrong with what came, if that is known.
        case endedInVain(ReceiverFault?)
        case lost(ReceiverFault)
        /// Without a sentence for so long that it is worth reopening.
        case overdue
    }

    /// How an open line stands.
    private struct Judgement: Equatable {
        let condition: LineWatch.Condition
        /// What the other side says that keeps fixes from coming.
        let obstacle: ReceiverFault?
    }

    private let receiver: LiveReceiver
    private let stop: EventDescriptor
    private let mailbox: EventMailbox
    /// Takes one datagram of any size; a tty gives 4 KiB at most.
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var reopening: ReopenWait
    private var position: PositionWatch
    private var interval = Duration.zero
    private var reported: ReceiverState?
    /// The line was reopened for being silent: that alone is not reported.
    private var isSecondChance = false
    /// Of all sentences that came, where the line is the only one.
    private var statistics: DecoderStatistics?

    init(receiver: LiveReceiver, stop: EventDescriptor, mailbox: EventMailbox) {
        self.receiver = receiver
        self.stop = stop
        self.mailbox = mailbox
        reopening = ReopenWait(schedule: receiver.schedule)
        position = PositionWatch(patience: receiver.positionPatience)
    }

    private var endpoint: any ReceiverEndpoint { receiver.endpoint }
    private var progress: (any ReceiverProgress)? { receiver.progress }
    private var tap: (any ReceiverTap)? { receiver.tap }

    /// Until stopped, or until the end of an input that cannot be opened again.
    mutating func run() throws(FixSourceError) {
        while true {
            progress?.turned()
            switch attempt() {
            case .stopped: return
            case .endOfInput where !endpoint.canReopen:
                let outcomes = statistics.map { [LogOutcome(name: endpoint.name, statistics: $0)] }
                if let failure = outcomes.flatMap({ LogOutcome.failure(of: $0, isRecorded: false) }) { throw failure }
                return report(.ended(source: endpoint.name))
            case .lost(let fault) where !endpoint.canReopen:
                throw FixSourceError(.readFailed, source: endpoint.name, fault)
            case .overdue:
                isSecondChance = true
                continue
            case .endedInVain(let fault) where !endpoint.canReopen:
                throw FixSourceError(.notALog, source: endpoint.name, fault)
            case .endedInVain(let fault?):
                report(fault)
                isSecondChance = true
                guard waitForReturn() else { return }
                continue
            case .endOfInput, .endedInVain: report(.closedByOtherSide)
            case .lost(let fault): report(fault)
            }
            isSecondChance = false
            guard waitForReturn() else { return }
        }
    }

    /// False when stopped.
    private mutating func waitForReturn() -> Bool {
        do throws(SystemError) { return try reopening.wait(for: endpoint, unless: stop) } catch {
            return true  // a wait that fails has no reason to fail again
        }
    }

    /// From one opening to the end of the line; it is closed when this returns.
    private mutating func attempt() -> Ending {
        do throws(ReceiverOpenError) { return receive(from: try endpoint.open(unless: stop)) } catch {
            switch error {
            case .notNow(let fault): return .lost(fault)
            case .stopped: return .stopped
            }
        }
    }

    private mutating func receive(from line: any ReceiverLine) -> Ending {
        let watch = LineWatch(
            openedAt: MonotonicTime.now, interval: interval, patience: receiver.patience, trial: line.trial?.limit)
        var session = LineSession(decoder: receiver.decoder, watch: watch)
        var pace = ReadPace(openedAt: MonotonicTime.now)
        var judgement: Judgement?
        position.lineOpened()
        tap?.lineOpened()
        defer {
            interval = session.watch.interval
            if session.watch.hasSentence { reopening.lineProvedGood() }
            if let last = session.finish() {
                noteFix(last)
                mailbox.post(.fix(last))
            }
            if !endpoint.canReopen { statistics = session.statistics }
            while let warning = session.takeWarning() { mailbox.post(.warning(warning)) }
        }
        while true {
            progress?.turned()
            let now = MonotonicTime.now
            if let ending = judge(line, in: session, at: now, after: &judgement) { return ending }
            let wakeUp = session.wakeUp(after: now)
            let pause = min(wakeUp, position.nextChange(after: now) ?? wakeUp) - now
            let rest = pace.rest(at: now)
            let outcome =
                rest > .zero
                ? wait(on: nil, for: rest) : wait(on: line, for: min(pause, ReceiverPace.longestTurn))
            switch outcome {
            case .failure(let error): return .lost(.lost("\(error)"))
            case .success(.stopped): return .stopped
            case .success(.timedOut) where rest > .zero: continue
            case .success(.timedOut):
                guard let fix = session.lineIsIdle(at: MonotonicTime.now) else { continue }
                position.sentencesArrived(withPosition: true, at: MonotonicTime.now)
                noteFix(fix)
                mailbox.post(.fix(fix))
            case .success(.ready(let isHungUp)):
                if let ending = drain(line, isHungUp: isHungUp, into: &session, at: &pace) {
                    return seen(ending, after: session)
                }
            }
        }
    }

    /// What the end of a line means after what has come on it.
    private func seen(_ ending: Ending, after session: LineSession) -> Ending {
        switch ending {
        case .endOfInput where !session.watch.hasSentence:
            return .endedInVain(endpoint.canReopen ? session.stranger : session.causeOfNoise)
        // One that was asked and does not understand may reset the connection.
        case .lost where endpoint.canReopen:
            return session.stranger.map { .endedInVain($0) } ?? ending
        default: return ending
        }
    }

    /// Tells what has changed since the line was last judged.
    private mutating func judge(
        _ line: any ReceiverLine, in session: LineSession, at now: Duration, after last: inout Judgement?
    ) -> Ending? {
        if endpoint.canReopen, session.watch.isOverdue(at: now) {
            if let fault = line.trial?.lineClosed(after: session.evidence) { report(fault) }
            return .overdue
        }
        let next = Judgement(condition: session.watch.condition(at: now), obstacle: session.obstacle)
        defer { last = next }
        if let obstacle = next.obstacle {
            report(obstacle)
        } else if next != last {
            report(next.condition, of: line, in: session)
        } else if next.condition == .receiving {
            report(positionsOn: line, in: session, at: now)
        }
        return nil
    }

    /// Reads all there is, or as much as `pace` allows, and posts the newest fix in it.
    private mutating func drain(
        _ line: any ReceiverLine, isHungUp: Bool, into session: inout LineSession, at pace: inout ReadPace
    ) -> Ending? {
        var newest: Fix?
        let hadSentence = session.watch.hasSentence
        defer {
            let now = MonotonicTime.now
            if session.watch.hasSentence, !hadSentence { line.trial?.firstSentenceArrived() }
            if session.obstacle == nil, session.watch.condition(at: now) == .receiving {
                position.sentencesArrived(withPosition: newest != nil, at: now)
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
                tap?.received(buffer.span.extracting(first: count))
                let fix = session.take(buffer.span.extracting(first: count), at: MonotonicTime.now) {
                    [progress, tap] in
                    progress?.fixMade($0)
                    tap?.fixMade($0)
                }
                pace.took(count, withFix: fix != nil)
                newest = fix ?? newest
            }
            guard case .success(.ready) = wait(on: line, for: .zero) else { return nil }
        }
        return nil
    }

    private func noteFix(_ fix: Fix) {
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
        case .opened where isSecondChance && line.trial?.isOpeningNews != true: break
        case .opened: report(.starting(source: endpoint.name, line.start))
        case .receiving: report(positionsOn: line, in: session, at: MonotonicTime.now)
        case .silent: report(session.stranger ?? endpoint.fault(of: session.silence, for: limit))
        case .noise: report(session.causeOfNoise ?? endpoint.fault(of: session.trouble, for: limit))
        }
    }

    /// Sentences arrive; so do positions, or not.
    private mutating func report(positionsOn line: any ReceiverLine, in session: LineSession, at now: Duration) {
        if position.hasHeardEverySentence(at: now), let lack = session.lackOfPositions {
            return report(lack)
        }
        switch position.condition(at: now) {
        case .good: report(.receiving(source: endpoint.name, foundBaudRate: line.trial?.rate))
        case .noneYet: report(.noPosition(source: endpoint.name, hadOne: false))
        case .lost: report(.noPosition(source: endpoint.name, hadOne: true))
        }
    }

    private mutating func report(_ fault: ReceiverFault) { report(.waiting(source: endpoint.name, fault)) }

    /// Once for each change, not for each attempt.
    private mutating func report(_ state: ReceiverState) {
        guard state != reported else { return }
        reported = state
        mailbox.post(.state(state))
    }
}
