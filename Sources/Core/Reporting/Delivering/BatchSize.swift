/// How many past locations the next upload may carry: so many that it takes about a second, and no more than the server
/// takes. Pure.
///
/// It begins small, grows while full batches are answered sooner, and shrinks with slow ones: the live position waits
/// behind a batch no longer than that. What is rejected, or gets no answer, halves it; after a rejection it grows half
/// of the way to what was rejected, so that an unpublished limit is found and not run into again and again.
///
/// If a much smaller batch took as long, size isn't the reason: it is the server that takes its time, and the batch
/// grows instead.
struct BatchSize: Sendable, Hashable {
    /// What the first upload carries, and the first after a failure: with token and header about 3 kB, which leave at
    /// once on a new connection (RFC 6928) and take a second at 25 kbit/s.
    static let first = 8
    /// So many weigh about what token and header do: fewer are hardly faster.
    static let light = 5
    /// The longest time that a batch should take.
    static let longest = Duration.seconds(1)
    /// It grows towards this part of that time, twofold at most.
    private static let aim = 0.8
    /// After so many full batches a rejected size is tried again: the server may have changed.
    static let memory = 100

    private struct Delivery: Hashable {
        let past: Int
        let took: Duration

        /// Whether this one and an `earlier` one of another size took equally long; `before`, if their sizes are alike.
        func showsSlowServer(after earlier: Self, _ before: Bool) -> Bool {
            let smaller = min(past, earlier.past)
            let larger = max(past, earlier.past)
            guard larger >= smaller + 3, larger + 1 >= (smaller + 1) * 3 / 2 else { return before }
            return max(took, earlier.took) <= min(took, earlier.took) * 1.1
        }
    }

    private let maximum: Int
    /// How many past locations the next upload may carry.
    private(set) var limit: Int
    /// What it becomes after an upload that carries the newest position alone.
    private var resumed: Int
    private var smallestRejected: Int?
    /// The size of the smallest batch that was aborted for a newer position.
    private var smallestAborted: Int?
    /// The last batch that was delivered on this network path.
    private var previous: Delivery?
    /// Whether that took as long as one of another size.
    private var isServerSlow = false
    /// Full batches since a batch was rejected or aborted.
    private var takenSince = 0

    init(maximum: Int) {
        self.maximum = maximum
        resumed = min(Self.first, maximum)
        limit = resumed
    }

    /// A batch with `past` locations has arrived and took so long.
    mutating func delivered(past: Int, took: Duration) {
        let delivery = Delivery(past: past, took: took)
        if let previous {
            isServerSlow = took > Self.longest && delivery.showsSlowServer(after: previous, isServerSlow)
        }
        previous = delivery
        if limit == 0 {
            limit = resumed
        } else if isServerSlow {
            smallestAborted = nil
            if past >= limit { grow(by: 4) }  // each step costs another slow answer
        } else if took > Self.longest {
            if past > Self.light {
                limit = max(Self.light, min(limit, Int(Double(past) * (Self.longest / took))))
            } else if past >= limit, limit < Self.light {
                grow(by: 2)
                limit = min(limit, Self.light)
            }
        } else if past >= limit {
            grow(by: max(1, min(2, Self.aim * (Self.longest / took))))
        }
    }

    /// A full batch has arrived.
    private mutating func grow(by factor: Double) {
        takenSince += 1
        if takenSince > Self.memory {
            smallestRejected = nil
            smallestAborted = nil
        }
        let tooLarge = [smallestRejected, smallestAborted].compactMap(\.self).min()
        let reach = tooLarge.map { max(limit, (limit + $0) / 2) } ?? maximum
        limit = min(Int(Double(limit) * factor), reach, maximum)
    }

    /// The server takes no batch with `past` locations; `least` are needed to deliver anything.
    mutating func rejected(past: Int, least: Int) {
        smallestRejected = past
        takenSince = 0
        limit = max(least, past / 2)
        resumed = max(1, limit)
    }

    /// It was one update that the server did not take, whatever the size of its batch.
    mutating func foundRejectedUpdate() {
        smallestRejected = nil
        smallestAborted = nil
        limit = max(1, limit)  // behind a repeated newest, only past locations can deliver the rest
        resumed = limit
    }

    /// No answer came to a batch with `past` locations: perhaps the network path drops large requests.
    mutating func unanswered(past: Int) {
        startAgain()
        if past > Self.light {
            limit = min(limit, past / 2)
            resumed = limit
        }
    }

    /// The network path may be another one when it works again.
    mutating func startAgain() {
        previous = nil
        isServerSlow = false
        if limit > 0 { resumed = min(Self.first, limit) }
        limit = min(limit, resumed)
    }

    /// The next uploads are probes while delivery is on hold: they carry the newest position alone.
    mutating func held() {
        startAgain()
        limit = 0
    }

    /// A batch with `past` locations was aborted for a newer position, which goes alone.
    mutating func aborted(past: Int) {
        guard past > Self.light else { return held() }
        smallestAborted = past
        takenSince = 0
        resumed = min(maximum, max(Self.light, past / 4))
        limit = 0
    }
}
