import GNSS
import LinuxPlatform
import LocationReporting

/// What a live receiver's thread does: open, poll, read, decode, and begin again after each loss.
struct ReceiverLoop {
    /// Why the line is no longer read.
    private enum Ending {
        case stopped
        case endOfInput
        case lost(String)
        /// Without a sentence for so long that it is worth opening anew.
        case overdue
    }

    /// A backlog is read to its newest fix, but the stop signal is looked at after this many bytes.
    private static let longestDrain = 1 << 20

    private let endpoint: any ReceiverEndpoint
    private let newDecoder: NMEADecoder
    private let stop: EventDescriptor
    private let mailbox: EventMailbox
    private let patience: Duration
    /// Takes one datagram of any size; a tty gives 4 KiB at most.
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var schedule = ReopenSchedule()
    private var interval = Duration.zero
    private var reported: ReceiverState?
    /// The line was opened anew for being silent: that alone is no news.
    private var isSecondChance = false

    init(receiver: LiveReceiver, stop: EventDescriptor, mailbox: EventMailbox) {
        (endpoint, newDecoder, patience) = (receiver.endpoint, receiver.decoder, receiver.patience)
        (self.stop, self.mailbox) = (stop, mailbox)
    }

    /// Until stopped, or until the end of an input that cannot be opened again.
    mutating func run() throws(FixSourceError) {
        while true {
            switch attempt() {
            case .stopped:
                return
            case .endOfInput where !endpoint.canReopen:
                return report(.ended(source: endpoint.name))
            case .lost(let reason) where !endpoint.canReopen:
                throw FixSourceError(.readFailed, "\(endpoint.name): \(reason)")
            case .overdue:
                isSecondChance = true
                continue
            case .endOfInput:
                report(.waiting(source: endpoint.name, reason: "closed by the other side; it is opened again"))
            case .lost(let reason):
                report(.waiting(source: endpoint.name, reason: reason))
            }
            isSecondChance = false
            guard case .success(.timedOut) = wait(on: nil, for: schedule.nextDelay()) else { return }
        }
    }

    /// From one opening to the end of the line; it is closed when this returns.
    private mutating func attempt() -> Ending {
        do throws(ReceiverOpenError) {
            return receive(from: try endpoint.open(unless: stop))
        } catch {
            switch error {
            case .notNow(let reason): return .lost(reason)
            case .stopped: return .stopped
            }
        }
    }

    private mutating func receive(from line: any ReceiverLine) -> Ending {
        var decoder = newDecoder
        var counter = SentenceCounter()
        var watch = LineWatch(openedAt: MonotonicTime.now, interval: interval, patience: patience)
        var judged: LineWatch.Condition?
        /// The idle deadline that has been told of already; the decoder may keep an epoch back beyond it.
        var passedDeadline: Duration?
        defer {
            interval = watch.interval
            if watch.hasSentence { schedule.reset() }
            complete(&decoder)
        }
        while true {
            let now = MonotonicTime.now
            if endpoint.canReopen, watch.isOverdue(at: now) { return .overdue }
            let condition = watch.condition(at: now)
            if condition != judged { report(condition, of: line, for: watch.limit) }
            judged = condition

            let deadline = decoder.idleDeadline.flatMap { $0 == passedDeadline ? nil : $0 }
            let nextChange = watch.nextChange(after: now)
            let wakeUp = deadline.map { min($0, nextChange) } ?? nextChange
            switch wait(on: line, for: wakeUp - now) {
            case .failure(let error): return .lost("\(error)")
            case .success(.stopped): return .stopped
            case .success(.timedOut):
                let now = MonotonicTime.now
                var newest: Fix?
                decoder.lineIsIdle(at: now) { newest = $0 }
                if let newest { mailbox.post(newest) }
                if let deadline, deadline <= now { passedDeadline = deadline }
            case .success(.ready(let isHungUp)):
                let ending = drain(line, isHungUp: isHungUp, &decoder, &counter, &watch)
                if let ending { return ending }
            }
        }
    }

    /// Reads all there is and posts the newest fix in it.
    private mutating func drain(
        _ line: any ReceiverLine, isHungUp: Bool, _ decoder: inout NMEADecoder, _ counter: inout SentenceCounter,
        _ watch: inout LineWatch
    ) -> Ending? {
        var newest: Fix?
        defer {
            if watch.condition(at: MonotonicTime.now) == .receiving { report(.receiving(source: endpoint.name)) }
            if let newest { mailbox.post(newest) }
        }
        var drained = 0
        while drained < Self.longestDrain {
            let read: LineRead
            do throws(SystemError) {
                var span = buffer.mutableSpan
                read = try line.read(into: &span)
            } catch {
                return .lost("lost (\(error.reason)); it is opened again as soon as it is back")
            }
            switch read {
            case .end: return .endOfInput
            case .nothingYet where isHungUp: return .lost("lost (hung up); it is opened again as soon as it is back")
            case .nothingYet: return nil
            case .bytes(let count):
                drained += count
                let now = MonotonicTime.now
                let bytes = buffer.span.extracting(first: count)
                var fixes = 0
                decoder.decode(bytes, receivedAt: now) { fix in
                    newest = fix
                    fixes += 1
                }
                // A receiver without checksums has no counted sentence, but a fix is proof enough.
                watch.bytesArrived(sentences: counter.count(in: bytes) + fixes, at: now)
            }
            guard case .success(.ready) = wait(on: line, for: .zero) else { return nil }
        }
        return nil
    }

    private func complete(_ decoder: inout NMEADecoder) {
        var newest: Fix?
        decoder.finish { newest = $0 }
        if let newest { mailbox.post(newest) }
    }

    private func wait(on line: (any ReceiverLine)?, for timeout: Duration) -> Result<PollOutcome, SystemError> {
        do throws(SystemError) {
            return .success(try poll(line?.raw, within: timeout, unless: stop))
        } catch {
            return .failure(error)
        }
    }

    private mutating func report(_ condition: LineWatch.Condition, of line: any ReceiverLine, for limit: Duration) {
        switch condition {
        case .opened where isSecondChance: break
        case .opened: report(.waiting(source: endpoint.name, reason: line.greeting))
        case .receiving: report(.receiving(source: endpoint.name))
        case .silent: report(complaint: .silence, for: limit)
        case .noise: report(complaint: .noise, for: limit)
        }
    }

    private mutating func report(complaint trouble: LineTrouble, for limit: Duration) {
        report(.waiting(source: endpoint.name, reason: endpoint.complaint(about: trouble, for: limit)))
    }

    /// Once for each change, not for each attempt.
    private mutating func report(_ state: ReceiverState) {
        guard state != reported else { return }
        reported = state
        mailbox.post(state)
    }
}
