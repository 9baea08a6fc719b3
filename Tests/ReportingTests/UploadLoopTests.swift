import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// Table-driven tests of the upload state. Each row has an event, the resulting action, and the time until which the
/// state waits.
@Suite struct UploadLoop {
    struct Row: Sendable {
        /// The time of the event in seconds since the start.
        let at: Double
        let event: UploadEvent
        /// The resulting action; `nil` if the action in progress continues.
        let action: UploadAction?
        /// The time until which the state waits, in seconds since the start; `nil` if it doesn't wait.
        let due: Double?

        init(_ at: Double, _ event: UploadEvent, _ action: UploadAction?, due: Double? = nil) {
            self.at = at
            self.event = event
            self.action = action
            self.due = due
        }
    }

    struct Table: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rows: [Row]
    }

    private static let light = UploadBatch.sample(past: 5)
    private static let heavy = UploadBatch.sample(past: 6)
    private static let repetition = UploadBatch.sample(past: 0, lastIsPending: false)
    private static let fromMemory = UploadBatch(unstored: StoredUpdate.sample(2000).update, past: [])

    private static func read(_ limit: Int, withBacklog: Bool = true) -> UploadAction {
        .readOutbox(BatchRequest(maximumPastLocations: limit, withBacklog: withBacklog))
    }

    private static func found(_ batch: UploadBatch?, newest: StoredUpdate? = nil) -> UploadEvent {
        .outboxRead(batch, newest: newest)
    }

    private static func send(_ batch: UploadBatch, secondsSinceFirstSent seconds: Int? = nil) -> UploadAction {
        .send(batch, secondsSinceFirstSent: seconds)
    }

    private static func answered(_ outcome: DeliveryOutcome) -> UploadEvent { .answered(DeliveryResult(outcome)) }

    private static func failed(_ cause: LostExchange.Cause) -> UploadEvent { .lost(cause, "no answer") }

    private static let outboxFailed = UploadEvent.outboxFailed(OutboxError(.unusable))
    private static let noPermit = UploadEvent.notPrepared(.noPermit(MissingPermit(.unavailable, "issuer down")))
    private static let positionNotStored = UploadEvent.updateNotStored(
        StoredUpdate.sample(2000).update, overrulesStored: false)

    /// Returns the rows from the start to the request for a permit for `batch`.
    private static func preparing(_ batch: UploadBatch) -> [Row] {
        [Row(0, .started, read(8)), Row(0, found(batch), .prepare)]
    }

    /// Returns the rows from the start to an exchange with `batch` at second 1.
    private static func exchanging(_ batch: UploadBatch) -> [Row] {
        preparing(batch) + [Row(1, .prepared, send(batch))]
    }

    private static let waits: KeyValuePairs<String, [Row]> = [
        "a delivery": preparing(light) + [
            Row(1, .prepared, send(light)),
            Row(2, answered(.delivered), .acknowledge(light)),
            Row(2, .resultRecorded(nil), read(8)),
            Row(2, found(nil, newest: light.stored), .wait, due: 62),
            Row(10, .updateStored(nil), read(8)),
        ],
        "a heartbeat": exchanging(light) + [
            Row(2, answered(.delivered), .acknowledge(light)),
            Row(2, .resultRecorded(nil), read(8)),
            Row(2, found(nil, newest: light.stored), .wait, due: 62),
            Row(61, .timeReached, nil, due: 62),
            Row(62, .timeReached, read(8)),
            Row(62, found(nil, newest: light.stored), .prepare),
            Row(62, .prepared, send(repetition, secondsSinceFirstSent: 61)),
            Row(63, answered(.delivered), .wait, due: 123),
        ],
        "no position yet: the outbox is read every second once a heartbeat is due": [
            Row(0, .started, read(8)),
            Row(0, found(nil), .wait, due: 60),
            Row(60, .timeReached, read(8)),
            Row(60, found(nil), .wait, due: 61),
            Row(61, .timeReached, read(8)),
            Row(61, found(nil), .wait, due: 62),
        ],
        "an update that arrives while the outbox is read leads to another reading": [
            Row(0, .updateStored(nil), nil),
            Row(0, .started, read(8)),
            Row(0, .updateStored(nil), nil),
            Row(0, found(nil), read(8)),
            Row(0, found(nil), .wait, due: 60),
        ],
        "an end, once nothing is pending": [
            Row(0, .finishWhenEmpty, nil),
            Row(0, .started, read(8)),
            Row(0, found(light), .prepare),
            Row(0, .prepared, send(light)),
            Row(1, answered(.delivered), .acknowledge(light)),
            Row(1, .resultRecorded(nil), read(8)),
            Row(1, found(nil), .finish),
            Row(2, .updateStored(nil), nil),
            Row(2, .networkReturned, nil),
        ],
        "no end, because an update arrived while the outbox was read": [
            Row(0, .finishWhenEmpty, nil),
            Row(0, .started, read(8)),
            Row(0, .updateStored(nil), nil),
            Row(0, found(nil), read(8)),
            Row(0, found(light), .prepare),
        ],
        "an end, while there is nothing to send": [
            Row(0, .started, read(8)),
            Row(0, found(nil), .wait, due: 60),
            Row(5, .finishWhenEmpty, read(8)),
            Row(5, found(nil), .finish),
        ],
        "a longer interval after a 429": exchanging(light) + [
            Row(2, answered(.throttled(.sample("429"), after: nil)), .wait, due: 7),
            Row(3, .updateStored(nil), nil, due: 7),
            Row(3, .networkReturned, nil, due: 7),
            Row(7, .timeReached, read(8)),
            Row(7, found(light), .prepare),
            Row(7, .prepared, send(light, secondsSinceFirstSent: 6)),
            Row(8, answered(.delivered), .acknowledge(light)),
            Row(8, .resultRecorded(nil), read(8)),
            // Half of the interval since the last upload.
            Row(8, found(light), .wait, due: 9.5),
            Row(9, .updateStored(nil), read(8)),
            Row(9, found(light), .wait, due: 9.5),
        ],
    ]

    private static func singleBatch(_ sequence: Int64) -> UploadBatch {
        UploadBatch(last: .sample(sequence), lastIsPending: true, past: [])
    }

    /// Returns the rows until the outbox is known to have nothing pending, with `newest` as its newest update.
    private static func emptyOutbox(newest: Int64 = 999) -> [Row] {
        [Row(0, .started, read(8)), Row(0, found(nil, newest: .sample(newest)), .wait, due: 60)]
    }

    /// Returns the outbox's answer to an append or an acknowledgement.
    private static func nextUpload(_ batch: UploadBatch?, newest: Int64 = 1000) -> NextUpload {
        NextUpload(batch, newest: batch?.stored ?? .sample(newest))
    }

    /// The rows from the start to an exchange with an update that was accepted at second 5.
    private static let sendingAccepted =
        emptyOutbox() + [
            Row(5, .updateStored(nextUpload(light)), .prepare),
            Row(5, .prepared, send(light)),
        ]

    /// Answers to appends and acknowledgements, after which the outbox need not be read.
    private static let answers: KeyValuePairs<String, [Row]> = [
        "an update that is accepted while nothing is pending is sent at once": sendingAccepted + [
            Row(6, answered(.delivered), .acknowledge(light)),
            Row(6, .resultRecorded(nextUpload(nil)), .wait, due: 66),
            Row(15, .updateStored(nextUpload(singleBatch(1001))), .prepare),
            Row(15, .prepared, send(singleBatch(1001))),
            Row(16, answered(.delivered), .acknowledge(singleBatch(1001))),
            // An update is accepted while the result is being recorded, so the answer may lack this update.
            Row(16, .updateStored(nextUpload(singleBatch(1002))), nil),
            Row(16, .resultRecorded(nextUpload(nil, newest: 1001)), read(8)),
        ],
        "an acknowledgement returns the next upload": sendingAccepted + [
            Row(6, .updateStored(nextUpload(singleBatch(1001))), nil, due: 9),
            Row(7, answered(.delivered), .acknowledge(light)),
            Row(7, .resultRecorded(nextUpload(singleBatch(1001))), .prepare),
            Row(7, .prepared, send(singleBatch(1001))),
        ],
        "the outbox is read after a failed attempt": sendingAccepted + [
            Row(6, answered(.retry(.sample("503"), after: nil)), .wait, due: 7),
            Row(7, .timeReached, read(8)),
        ],
        "the outbox is read again if an update arrived during the reading": [
            Row(0, .started, read(8)),
            Row(0, .updateStored(nextUpload(light)), nil),
            Row(0, found(nil, newest: .sample(999)), read(8)),
            Row(0, found(light), .prepare),
        ],
        "the outbox is read if the append returned no upload": emptyOutbox() + [Row(5, .updateStored(nil), read(8))],
        "the outbox is read if the acknowledgement returned no upload": sendingAccepted + [
            Row(6, answered(.delivered), .acknowledge(light)),
            Row(6, .resultRecorded(nil), read(8)),
        ],
        "the outbox is read for half of a rejected batch": sendingAccepted + [
            Row(6, answered(.rejected(.sample("400"))), read(2))
        ],
        "the outbox is read after a quarantine": emptyOutbox() + [
            Row(5, .updateStored(nextUpload(singleBatch(1000))), .prepare),
            Row(5, .prepared, send(singleBatch(1000))),
            Row(6, answered(.rejected(.sample("400"))), .quarantine(.sample(1000), reason: "400")),
            Row(6, .resultRecorded(nil), read(8)),
        ],
        "the outbox is read after its failure": sendingAccepted + [
            Row(6, answered(.delivered), .acknowledge(light)),
            Row(6, outboxFailed, .wait, due: 7),
            Row(7, .timeReached, read(8)),
        ],
        "the outbox is read for an update that it could not store": emptyOutbox() + [
            Row(5, positionNotStored, read(8)),
            Row(5, found(nil, newest: .sample(999)), .prepare),
            Row(5, .prepared, send(fromMemory)),
            Row(6, answered(.delivered), read(8)),
            Row(6, found(nil, newest: .sample(999)), .wait, due: 66),
        ],
        "a vehicle that has become private is offline first": sendingAccepted + [
            Row(6, answered(.delivered), .acknowledge(light)),
            Row(6, .privateModeBegan, nil),
            Row(6, .resultRecorded(nextUpload(singleBatch(1001))), .announce(.offline)),
        ],
        "an end, while nothing is pending": emptyOutbox() + [
            Row(5, .finishWhenEmpty, read(8)), Row(5, found(nil, newest: .sample(999)), .finish),
        ],
    ]

    private static func newerBatch(_ sequence: Int64) -> UploadBatch {
        UploadBatch(last: .sample(sequence), lastIsPending: true, past: [light.stored].compactMap(\.self))
    }

    /// A position that arrives during a long wait for a token leads the request with that token.
    private static let tokenWaits: KeyValuePairs<String, [Row]> = [
        "an update that is accepted during a long wait for a token is sent with that token": preparing(light) + [
            Row(10, .updateStored(nil), nil),
            Row(12, .prepared, read(8)),
            // An update that is accepted during the reading waits for the next upload.
            Row(12, .updateStored(nil), nil),
            Row(12, found(newerBatch(2000)), send(newerBatch(2000)), due: 15),
            Row(13, answered(.delivered), .acknowledge(newerBatch(2000))),
            Row(13, .resultRecorded(nil), read(8)),
        ],
        "a position from memory is sent if the outbox can't be read": preparing(light) + [
            Row(10, positionNotStored, nil),
            Row(12, .prepared, read(8)),
            Row(12, outboxFailed, send(fromMemory)),
        ],
        "a token without an upload remains in the cache": preparing(light) + [
            Row(10, .updateStored(nil), nil),
            Row(12, .prepared, read(8)),
            Row(12, found(nil), .wait, due: 60),
            Row(20, .updateStored(nil), read(8)),
            Row(20, found(newerBatch(2000)), .prepare),
        ],
        "a stop while the outbox is read for a token": preparing(light) + [
            Row(10, .updateStored(nil), nil),
            Row(12, .prepared, read(8)), Row(12, .cancelled, nil), Row(12, found(light), .finish),
        ],
    ]

    private static let failures: KeyValuePairs<String, [Row]> = [
        "an outbox that fails is read again, and earlier for a position in memory": [
            Row(0, .started, read(8)),
            Row(0, outboxFailed, .wait, due: 1),
            Row(1, .timeReached, read(8)),
            Row(1, outboxFailed, .wait, due: 3),
            Row(2, positionNotStored, read(8)),
            Row(2, outboxFailed, .prepare),
            Row(2, .prepared, send(fromMemory)),
            Row(3, answered(.delivered), read(8)),
            // The position alone would be a repetition.
            Row(3, outboxFailed, .wait, due: 4),
        ],
        "an outbox that fails when a heartbeat is due is read every second": [
            Row(0, .started, read(8)),
            Row(59, outboxFailed, .wait, due: 60),
            Row(60, .timeReached, read(8)),
            Row(60, outboxFailed, .wait, due: 61),
            Row(61, .timeReached, read(8)),
            Row(61, outboxFailed, .wait, due: 62),
        ],
        "an outbox that can't record a delivery": exchanging(light) + [
            Row(2, answered(.delivered), .acknowledge(light)),
            Row(2, outboxFailed, .wait, due: 3),
            Row(3, .timeReached, read(8)),
        ],
        "no token: the network's return ends the wait, but not within a second": preparing(light) + [
            Row(0.25, noPermit, .wait, due: 1.25),
            Row(0.5, .networkReturned, nil, due: 1),
            Row(1, .timeReached, read(8)),
            Row(1, found(light), .prepare),
            Row(4, noPermit, .wait, due: 5),
            Row(4.5, .networkReturned, read(8)),
        ],
        "without an answer, the network's return ends the wait, but a new position doesn't": exchanging(light) + [
            Row(4, failed(.timedOut), .wait, due: 5),
            Row(5, .timeReached, read(8)),
            Row(5, found(light), .prepare),
            Row(5, .prepared, send(light, secondsSinceFirstSent: 4)),
            Row(9, failed(.timedOut), .wait, due: 11),
            Row(9, .updateStored(nil), nil, due: 11),
            Row(10, .networkReturned, read(8)),
        ],
        "a rejected token is renewed at once, then delivery is on hold": exchanging(light) + [
            Row(2, answered(.prepareAgain(.sample("401"))), read(8)),
            Row(2, found(light), .prepare),
            Row(2, .prepared, send(light, secondsSinceFirstSent: 1)),
            Row(3, answered(.prepareAgain(.sample("401"))), .wait, due: 63),
            Row(4, .networkReturned, nil, due: 63),
            Row(63, .timeReached, read(0)),
        ],
    ]

    private static let undecodable = answered(
        .held(.unanswered(LostExchange(.undecodableAnswer, "Content-Encoding: br"))))

    /// An answer that can't be decoded may mean success, so the same position isn't sent again.
    private static let undecodableAnswers: KeyValuePairs<String, [Row]> = [
        "the next probe waits for a newer position, which arrives after the wait": exchanging(light) + [
            Row(2, undecodable, .wait, due: 62),
            Row(62, .timeReached, read(0)),
            Row(62, found(light), .wait, due: 122),
            Row(122, .timeReached, read(0)),
            Row(122, found(light), .wait, due: 182),
            Row(130, .updateStored(nil), read(0)),
            Row(130, found(newerBatch(2000)), .prepare),
            Row(130, .prepared, send(newerBatch(2000))),
            Row(131, undecodable, .wait, due: 251),
        ],
        "a newer position that arrives during the wait is sent at its end": exchanging(light) + [
            Row(2, undecodable, .wait, due: 62),
            Row(10, .updateStored(nil), nil, due: 62),
            Row(62, .timeReached, read(0)),
            Row(62, found(newerBatch(2000)), .prepare),
            Row(62, .prepared, send(newerBatch(2000))),
            Row(63, answered(.delivered), .acknowledge(newerBatch(2000))),
            Row(63, .resultRecorded(nil), read(8)),
        ],
        "no heartbeat repeats the position": exchanging(light) + [
            Row(2, undecodable, .wait, due: 62),
            Row(62, .timeReached, read(0)),
            Row(62, found(nil, newest: light.stored), .wait, due: 122),
        ],
        "a log that has ended has no newer position": exchanging(light) + [
            Row(2, undecodable, .wait, due: 62),
            Row(3, .finishWhenEmpty, nil, due: 62),
            Row(62, .timeReached, read(0)),
            Row(62, found(light), .prepare),
        ],
    ]

    private static let aborts: KeyValuePairs<String, [Row]> = [
        "after a network change an exchange has two seconds": exchanging(light) + [
            Row(2, .networkReturned, nil, due: 4),
            Row(3, .networkReturned, nil, due: 4),
            Row(4, .timeReached, .abortExchange),
            Row(4, failed(.cancelled), read(8)),
        ],
        "no attempt starts within a second of the last one, even if the network returns": exchanging(light) + [
            Row(1.25, .networkReturned, nil, due: 3.25),
            Row(1.5, failed(.connectionFailed), .wait, due: 2),
            Row(1.5, .networkReturned, nil, due: 2),
            Row(2, .timeReached, read(8)),
        ],
        "an answer may arrive within the two seconds": exchanging(light) + [
            Row(2, .networkReturned, nil, due: 4),
            Row(3, answered(.delivered), .acknowledge(light)),
        ],
        "an answer is used although the exchange was just aborted": exchanging(light) + [
            Row(2, .networkReturned, nil, due: 4),
            Row(4, .timeReached, .abortExchange),
            Row(4, answered(.delivered), .acknowledge(light)),
        ],
        "a newer position waits three seconds for a heavy batch, and is then sent alone": exchanging(heavy) + [
            Row(2, .updateStored(nil), nil, due: 5),
            Row(3, .updateStored(nil), nil, due: 5),
            Row(5, .timeReached, .abortExchange),
            Row(5, failed(.cancelled), read(0)),
        ],
        "a newer position may have waited before the exchange started": preparing(heavy) + [
            Row(0, positionNotStored, nil),
            Row(0.1, .prepared, send(heavy), due: 3.1),
            // The earlier of the two times applies.
            Row(1, .networkReturned, nil, due: 3),
        ],
        "the timeout doubles with each abort, regardless of the batch, until a delivery": exchanging(light) + [
            Row(2, .updateStored(nil), nil, due: 5),
            Row(5, .timeReached, .abortExchange),
            Row(5, failed(.cancelled), read(0)),
            Row(5, found(light), .prepare),
            Row(5, .prepared, send(light, secondsSinceFirstSent: 4)),
            Row(6, .updateStored(nil), nil, due: 12),
            Row(7, answered(.delivered), .acknowledge(light)),
            Row(7, .resultRecorded(nil), read(8)),
            Row(7, found(newerBatch(2000)), .prepare),
            Row(7, .prepared, send(newerBatch(2000))),
            Row(8, .updateStored(nil), nil, due: 12),
        ],
        "a failure other than the abort counts while a newer position waits": exchanging(heavy) + [
            Row(2, .updateStored(nil), nil, due: 5),
            Row(5, .timeReached, .abortExchange),
            Row(5, failed(.timedOut), .wait, due: 6),
        ],
    ]

    private static let cancellations: KeyValuePairs<String, [Row]> = [
        "cancelled before the start": [Row(0, .cancelled, .finish)],
        "cancelled while there is nothing to send": [
            Row(0, .started, read(8)), Row(0, found(nil), .wait, due: 60), Row(3, .cancelled, .finish),
        ],
        "cancelled during a backoff": exchanging(light) + [
            Row(2, answered(.retry(.sample("503"), after: nil)), .wait, due: 3), Row(2, .cancelled, .finish),
        ],
        "cancelled while the outbox is read": [
            Row(0, .started, read(8)), Row(0, .cancelled, nil), Row(0, found(light), .finish),
        ],
        "cancelled while a token is fetched": preparing(light) + [
            Row(1, .cancelled, nil),
            Row(1, noPermit, .finish),
        ],
        "cancelled with a new token": preparing(light) + [
            Row(1, .cancelled, nil),
            Row(1, .prepared, .finish),
        ],
        "cancelled during an exchange": exchanging(light) + [
            Row(2, .cancelled, nil), Row(2, failed(.cancelled), .finish),
        ],
        "cancelled during an exchange whose answer arrives anyway": exchanging(light) + [
            Row(2, .cancelled, nil), Row(2, answered(.delivered), .acknowledge(light)), Row(2, .cancelled, nil),
            Row(2, .resultRecorded(nil), .finish),
        ],
        "cancelled during an exchange that fails": exchanging(light) + [
            Row(2, .cancelled, nil), Row(2, answered(.retry(.sample("503"), after: nil)), .finish),
        ],
    ]

    static let tables = [waits, answers, tokenWaits, failures, undecodableAnswers, aborts, cancellations].flatMap {
        group in
        group.map { Table(testDescription: $0.key, rows: $0.value) }
    }

    @Test(arguments: tables) func followsTheTable(table: Table) { Self.run(table.rows, on: UploadStateDriver()) }

    /// The live position doesn't wait for the backlog.
    @Test func keepsTheRateOfABacklog() {
        let rows =
            Self.exchanging(Self.light) + [
                Row(2, Self.answered(.delivered), .acknowledge(Self.light)),
                Row(2, .resultRecorded(nil), Self.read(8, withBacklog: false)),
                Row(2, Self.found(Self.repetition), .wait, due: 11),
                Row(5, .updateStored(nil), Self.read(8, withBacklog: false)),
                Row(5, Self.found(.sample(past: 0)), .prepare),
                Row(5, .prepared, Self.send(.sample(past: 0), secondsSinceFirstSent: 4)),
                Row(6, Self.answered(.delivered), .acknowledge(.sample(past: 0))),
                Row(6, .resultRecorded(nil), Self.read(8, withBacklog: false)),
                Row(6, Self.found(Self.repetition), .wait, due: 11),
                Row(11, .timeReached, Self.read(8)),
            ]
        Self.run(rows, on: UploadStateDriver(backlogUpdatesPerSecond: 0.5))
    }

    private static func run(_ rows: [Row], on upload: UploadStateDriver) {
        for (number, row) in rows.enumerated() {
            upload.now = .milliseconds(Int(row.at * 1000))
            let step = upload.handle(row.event)
            #expect(step.action?.withoutRequest == row.action, "row \(number + 1)")
            #expect(upload.state.dueAt == row.due.map { .milliseconds(Int($0 * 1000)) }, "row \(number + 1)")
        }
    }

    /// Events, and the seconds from the start of the request that update 1000 led until second 10.
    @Test(
        arguments: [
            ("nothing was sent", [], nil),
            ("the request is in progress", exchanging(light), 9),
            ("the update was accepted", exchanging(light) + [Row(2, answered(.delivered), nil)], 9),
            ("the request failed", exchanging(light) + [Row(2, failed(.timedOut), nil)], nil),
            ("its token was rejected", exchanging(light) + [Row(2, answered(.prepareAgain(.sample("401"))), nil)], nil),
            (
                "the request was aborted",
                exchanging(light) + [Row(2, .networkReturned, nil), Row(4, failed(.cancelled), nil)],
                nil
            ),
            (
                "another update leads",
                [
                    Row(0, .started, nil), Row(0, found(newerBatch(2000)), nil), Row(0, .prepared, nil),
                    Row(1, answered(.delivered), nil),
                ], nil
            ),
            (
                "the position was repeated since",
                exchanging(light) + [
                    Row(2, answered(.delivered), nil), Row(2, .resultRecorded(nil), nil),
                    Row(2, found(repetition), nil),
                    Row(3, .prepared, nil), Row(4, answered(.delivered), nil),
                ], 9
            ),
            (
                "the request is retried for less than a second",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(9.5, .timeReached, nil), Row(9.5, found(light), nil),
                    Row(9.5, .prepared, nil),
                ], 0.5
            ),
            (
                "the request is retried, and gets no answer either",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(8, .timeReached, nil), Row(8, found(light), nil),
                    Row(8, .prepared, nil),
                ], nil
            ),
            (
                "the request was retried, and the update accepted",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(8, .timeReached, nil), Row(8, found(light), nil),
                    Row(8, .prepared, nil), Row(9.5, answered(.delivered), nil),
                ], 2
            ),
        ] as [(String, [Row], Double?)])
    func knowsWhenAPositionWasFirstSent(name: String, rows: [Row], seconds: Double?) throws {
        let upload = UploadStateDriver()
        for row in rows {
            upload.now = .milliseconds(Int(row.at * 1000))
            upload.handle(row.event)
        }
        let elapsed = upload.state.timeSinceSent(StoredUpdate.sample(1000).update, at: .seconds(10))
        #expect(elapsed == seconds.map { .milliseconds(Int($0 * 1000)) })
    }

    @Test func reportsItsActions() throws {
        let upload = UploadStateDriver()
        let (error, batch) = (OutboxError(.unusable), Self.light)
        let traffic = Traffic(bytesSent: 1, bytesReceived: 2)
        func waiting(_ seconds: Int) -> ReportingEvent { .waiting(delay: .seconds(seconds)) }
        let rows: [(UploadEvent, [ReportingEvent])] = [
            (.started, []),
            (.outboxRead(nil, newest: nil), [.idle]),
            (.updateStored(nil), []),
            // `idle` is reported only once until the next upload.
            (.outboxRead(nil, newest: nil), []),
            (.updateStored(nil), []),
            (Self.outboxFailed, [.outboxFailed(error), waiting(1)]),
            (.updateStored(nil), []),
            (Self.found(batch), []),
            (.prepared, [.uploading(batch)]),
            (
                .answered(DeliveryResult(.retry(.sample("503"), after: nil), traffic: traffic)),
                [.failed(.retry(.sample("503"), after: nil), traffic: traffic, took: .zero), waiting(1)]
            ),
            (.timeReached, []),
            (Self.found(batch), []),
            (.prepared, [.uploading(batch)]),
            (.networkReturned, []),
            (.timeReached, []),
            (
                .lost(.cancelled, "", traffic: traffic),
                [
                    .failed(
                        .unanswered(
                            .aborted(.networkChanged, LostExchange(.cancelled, "", origin: "https://f.example"))),
                        traffic: traffic, took: .seconds(2))
                ]
            ),
            (Self.found(batch), []),
            (.prepared, [.uploading(batch)]),
            (
                .answered(DeliveryResult(.delivered, traffic: traffic)),
                [.delivered(batch, traffic: traffic, took: .zero)]
            ),
            (.resultRecorded(nil), []),
            (.outboxRead(nil, newest: nil), [.idle]),
        ]
        for (event, reports) in rows {
            if case .timeReached = event { upload.now = upload.state.dueAt ?? upload.now }
            #expect(upload.handle(event).reports == reports)
        }
    }

    /// An event that isn't valid in the current phase is reported, and the lane restarts.
    @Test(
        arguments: [
            ([], .resultRecorded(nil)), ([], .outboxRead(nil, newest: nil)), (exchanging(light), .prepared),
            (exchanging(light), .started), (exchanging(light), .announced(.delivered)),
            (exchanging(light) + [Row(2, answered(.delivered), nil)], answered(.delivered)),
            ([Row(0, .started, nil)], .notPrepared(.sample("no token"))),
        ] as [([Row], UploadEvent)])
    func reportsAnEventThatIsInvalidInItsPhase(rows: [Row], event: UploadEvent) {
        let upload = UploadStateDriver()
        for row in rows {
            upload.now = .milliseconds(Int(row.at * 1000))
            upload.handle(row.event)
        }
        var state = upload.state
        let step = state.handle(event, at: upload.now, jitter: 1)
        #expect(step.action == .restart)
        guard case .internalError(let error)? = step.reports.first else {
            Issue.record("not reported: \(step.reports)")
            return
        }
        #expect(!error.event.contains("(") && !error.phase.isEmpty)
        #expect(state.handle(.started, at: upload.now, jitter: 1).action != nil)
    }
}
