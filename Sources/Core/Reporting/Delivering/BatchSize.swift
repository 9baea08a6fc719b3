/// The rule for how many past locations the next upload may carry. A batch should be answered within about a second,
/// and must not be larger than the server accepts. This type does no I/O.
///
/// The limit starts small. It grows while full batches are answered quickly and shrinks after slow ones. A live
/// position thus never waits long for the batch ahead of it. If a batch is rejected or gets no answer, the limit is
/// halved. After a rejection it grows at most halfway to the rejected size. An unpublished limit on the server is thus
/// found once and not exceeded repeatedly.
///
/// If a slow batch took no longer than a much smaller one, the server is slow regardless of size. The limit then grows
/// instead of shrinking.
struct BatchSize: Sendable, Hashable {
    /// The limit for the first upload, and for the first upload after a failure. With this many locations, the token
    /// and the header, a request is about 3 kB long. It fits into the initial window of a new connection (RFC 6928) and
    /// takes a second at 25 kbit/s.
    static let initial = 8
    /// The number of locations that need about as many bytes as the token and the header. A smaller batch isn't
    /// noticeably faster.
    static let lightBatchSize = 5
    /// The maximum time that a batch should take.
    static let maximumTime = Duration.seconds(1)
    /// The fraction of `maximumTime` that the next batch should take when the limit grows.
    private static let targetFraction = 0.8
    /// The number of full batches after which a rejected size may be tried again, because the server may have changed.
    static let batchesBeforeRetry = 100

    private struct Delivery: Hashable {
        let past: Int
        let took: Duration

        /// Whether this delivery and an `earlier` one of a different size took about the same time. Returns
        /// `previousResult` if the sizes are too similar to compare.
        func showsSlowServer(after earlier: Self, previousResult: Bool) -> Bool {
            let smaller = min(past, earlier.past)
            let larger = max(past, earlier.past)
            guard larger >= smaller + 3, larger + 1 >= (smaller + 1) * 3 / 2 else { return previousResult }
            return max(took, earlier.took) <= min(took, earlier.took) * 1.1
        }
    }

    private let maximum: Int
    /// The number of past locations that the next upload may carry.
    private(set) var limit: Int
    /// The limit to restore once a probe has been delivered. A probe carries only the newest position.
    private var limitAfterProbe: Int
    private var smallestRejected: Int?
    /// The size of the smallest batch that was aborted because a newer position was waiting; `nil` if none was aborted.
    private var smallestAborted: Int?
    /// The last delivery on this network path; `nil` if there was none.
    private var previousDelivery: Delivery?
    /// Whether the last two batches of different sizes took about the same time.
    private var isServerSlow = false
    /// The number of full batches delivered since a batch was rejected or aborted.
    private var fullBatches = 0

    init(maximum: Int) {
        self.maximum = maximum
        limitAfterProbe = min(Self.initial, maximum)
        limit = limitAfterProbe
    }

    /// Records that a batch with `past` locations was delivered.
    mutating func didDeliver(past: Int, took: Duration) {
        let delivery = Delivery(past: past, took: took)
        if let previousDelivery {
            isServerSlow =
                took > Self.maximumTime
                && delivery.showsSlowServer(after: previousDelivery, previousResult: isServerSlow)
        }
        previousDelivery = delivery
        if limit == 0 {
            limit = limitAfterProbe
        } else if isServerSlow {
            smallestAborted = nil
            if past >= limit { grow(by: 4) }  // in large steps, because each one costs a slow answer
        } else if took > Self.maximumTime {
            if past > Self.lightBatchSize {
                limit = max(Self.lightBatchSize, min(limit, Int(Double(past) * (Self.maximumTime / took))))
            } else if past >= limit, limit < Self.lightBatchSize {
                grow(by: 2)
                limit = min(limit, Self.lightBatchSize)
            }
        } else if past >= limit {
            grow(by: max(1, min(2, Self.targetFraction * (Self.maximumTime / took))))
        }
    }

    /// Raises the limit after a full batch, but not to a size that has failed.
    private mutating func grow(by factor: Double) {
        fullBatches += 1
        if fullBatches > Self.batchesBeforeRetry {
            smallestRejected = nil
            smallestAborted = nil
        }
        let tooLarge = [smallestRejected, smallestAborted].compactMap(\.self).min()
        let reach = tooLarge.map { max(limit, (limit + $0) / 2) } ?? maximum
        limit = min(Int(Double(limit) * factor), reach, maximum)
    }

    /// Records that the server rejected a batch with `past` locations. The next batch must contain at least `minimum`
    /// past locations to deliver anything.
    mutating func didReject(past: Int, minimum: Int) {
        smallestRejected = past
        fullBatches = 0
        limit = max(minimum, past / 2)
        limitAfterProbe = max(1, limit)
    }

    /// Records that the server rejected a single update, so the size of its batch wasn't the reason.
    mutating func recordRejectedUpdate() {
        smallestRejected = nil
        smallestAborted = nil
        limit = max(1, limit)  // if the newest position is only repeated, the rest must go as past locations
        limitAfterProbe = limit
    }

    /// Records that a batch with `past` locations got no answer. The next batch is smaller, because the network path
    /// may drop large requests.
    mutating func didGetNoAnswer(past: Int) {
        forgetDeliveries()
        if past > Self.lightBatchSize {
            limit = min(limit, past / 2)
            limitAfterProbe = limit
        }
    }

    /// Forgets earlier deliveries, because the network path may have changed.
    mutating func forgetDeliveries() {
        previousDelivery = nil
        isServerSlow = false
        if limit > 0 { limitAfterProbe = min(Self.initial, limit) }
        limit = min(limit, limitAfterProbe)
    }

    /// Turns the next uploads into probes, which carry only the newest position.
    mutating func startProbing() {
        forgetDeliveries()
        limit = 0
    }

    /// Records that a batch with `past` locations was aborted so that a newer position can be sent without past
    /// locations.
    mutating func didAbort(past: Int) {
        guard past > Self.lightBatchSize else { return startProbing() }
        smallestAborted = past
        fullBatches = 0
        limitAfterProbe = min(maximum, max(Self.lightBatchSize, past / 4))
        limit = 0
    }
}
