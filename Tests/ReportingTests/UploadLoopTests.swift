import ReportedText
import Testing
import WaypostTestSupport

@testable import Reporting

/// The upload state from event to event: when what happens, what is done, and when the next thing is due.
@Suite struct UploadLoop {

    struct Row: Sendable {
        /// Since the start, in seconds.
        let at: Double
        let event: UploadEvent
        /// `nil`: whatever is under way goes on.
        let action: UploadAction?
        /// Since the start, in seconds.
        var due: Double?

        init(_ at: Double, _ event: UploadEvent, _ action: UploadAction?, due: Double? = nil) {
            (self.at, self.event, self.action, self.due) = (at, event, action, due)
        }
    }

    struct Table: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var backlogUpdatesPerSecond: Double?
        let rows: [Row]

        init(_ name: String, backlogUpdatesPerSecond: Double? = nil, _ rows: [Row]) {
            (testDescription, self.backlogUpdatesPerSecond, self.rows) = (name, backlogUpdatesPerSecond, rows)
        }
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

    private static func send(_ batch: UploadBatch, _ seconds: Int? = nil) -> UploadAction {
        .send(batch, secondsSinceFirstSent: seconds)
    }

    private static func answered(_ outcome: DeliveryOutcome) -> UploadEvent { .answered(DeliveryResult(outcome)) }

    private static func failed(_ cause: LostExchange.Cause) -> UploadEvent { .lost(cause, "no answer") }

    private static let outboxFails = UploadEvent.outboxFailed(OutboxError(.unusable))
    private static let unavailable = UploadEvent.notPrepared(.noPermit(MissingPermit(.unavailable, "issuer down")))
    private static let offered = UploadEvent.offered(StoredUpdate.sample(2000).update, overrulingStored: false)

    /// From the start to an exchange with `batch` at second 1.
    private static func exchanging(_ batch: UploadBatch) -> [Row] {
        [
            Row(0, .started, read(8)), Row(0, found(batch), .prepare),
            Row(1, .prepared, send(batch)),
        ]
    }

    static let waits = [
        Table(
            "a delivery",
            [
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(1, .prepared, send(light)),
                Row(2, answered(.delivered), .acknowledge(light)),
                Row(2, .noted(nil), read(8)),
                Row(2, found(nil, newest: light.stored), .wait, due: 62),
                Row(10, .accepted(nil), read(8)),
            ]),
        Table(
            "a heartbeat",
            exchanging(light) + [
                Row(2, answered(.delivered), .acknowledge(light)),
                Row(2, .noted(nil), read(8)),
                Row(2, found(nil, newest: light.stored), .wait, due: 62),
                Row(61, .timeReached, nil, due: 62),
                Row(62, .timeReached, read(8)),
                Row(62, found(nil, newest: light.stored), .prepare),
                Row(62, .prepared, send(repetition, 61)),
                Row(63, answered(.delivered), .wait, due: 123),
            ]),
        Table(
            "no position yet: the outbox is read every second once a heartbeat is due",
            [
                Row(0, .started, read(8)),
                Row(0, found(nil), .wait, due: 60),
                Row(60, .timeReached, read(8)),
                Row(60, found(nil), .wait, due: 61),
                Row(61, .timeReached, read(8)),
                Row(61, found(nil), .wait, due: 62),
            ]),
        Table(
            "what comes while the outbox is read is not waited past",
            [
                Row(0, .accepted(nil), nil),
                Row(0, .started, read(8)),
                Row(0, .accepted(nil), nil),
                Row(0, found(nil), read(8)),
                Row(0, found(nil), .wait, due: 60),
            ]),
        Table(
            "an end, once nothing is pending",
            [
                Row(0, .finishWhenEmpty, nil),
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(0, .prepared, send(light)),
                Row(1, answered(.delivered), .acknowledge(light)),
                Row(1, .noted(nil), read(8)),
                Row(1, found(nil), .finish),
                Row(2, .accepted(nil), nil),
                Row(2, .networkReturned, nil),
            ]),
        Table(
            "no end, for an update came while the outbox was read",
            [
                Row(0, .finishWhenEmpty, nil),
                Row(0, .started, read(8)),
                Row(0, .accepted(nil), nil),
                Row(0, found(nil), read(8)),
                Row(0, found(light), .prepare),
            ]),
        Table(
            "an end, while there is nothing to send",
            [
                Row(0, .started, read(8)),
                Row(0, found(nil), .wait, due: 60),
                Row(5, .finishWhenEmpty, read(8)),
                Row(5, found(nil), .finish),
            ]),
        Table(
            "a backlog keeps its pace, the live position does not wait", backlogUpdatesPerSecond: 0.5,
            exchanging(light) + [
                Row(2, answered(.delivered), .acknowledge(light)),
                Row(2, .noted(nil), read(8, withBacklog: false)),
                Row(2, found(repetition), .wait, due: 11),
                Row(5, .accepted(nil), read(8, withBacklog: false)),
                Row(5, found(.sample(past: 0)), .prepare),
                Row(5, .prepared, send(.sample(past: 0), 4)),
                Row(6, answered(.delivered), .acknowledge(.sample(past: 0))),
                Row(6, .noted(nil), read(8, withBacklog: false)),
                Row(6, found(repetition), .wait, due: 11),
                Row(11, .timeReached, read(8)),
            ]),
        Table(
            "everything wider apart after a 429",
            exchanging(light) + [
                Row(2, answered(.throttled(.sample("429"), after: nil)), .wait, due: 7),
                Row(3, .accepted(nil), nil, due: 7),
                Row(3, .networkReturned, nil, due: 7),
                Row(7, .timeReached, read(8)),
                Row(7, found(light), .prepare),
                Row(7, .prepared, send(light, 6)),
                Row(8, answered(.delivered), .acknowledge(light)),
                Row(8, .noted(nil), read(8)),
                // Half of the interval, since the last upload.
                Row(8, found(light), .wait, due: 9.5),
                Row(9, .accepted(nil), read(8)),
                Row(9, found(light), .wait, due: 9.5),
            ]),
    ]

    private static func alone(_ sequence: Int64) -> UploadBatch {
        UploadBatch(last: .sample(sequence), lastIsPending: true, past: [])
    }

    /// To where it is known that nothing is pending, and `newest` was the last.
    private static func empty(_ newest: Int64 = 999) -> [Row] {
        [Row(0, .started, read(8)), Row(0, found(nil, newest: .sample(newest)), .wait, due: 60)]
    }

    /// What the outbox answers beside its work.
    private static func next(_ batch: UploadBatch?, newest: Int64 = 1000) -> NextUpload {
        NextUpload(batch, newest: batch?.stored ?? .sample(newest))
    }

    /// From there to an exchange with what was accepted at second 5.
    private static let sendingAccepted =
        empty() + [
            Row(5, .accepted(next(light)), .prepare),
            Row(5, .prepared, send(light)),
        ]

    /// What append and acknowledgement have answered is not asked for.
    static let answers = [
        Table(
            "what is accepted while nothing is pending goes out as it is",
            sendingAccepted + [
                Row(6, answered(.delivered), .acknowledge(light)),
                Row(6, .noted(next(nil)), .wait, due: 66),
                Row(15, .accepted(next(alone(1001))), .prepare),
                Row(15, .prepared, send(alone(1001))),
                Row(16, answered(.delivered), .acknowledge(alone(1001))),
                // While it is noted, too; the answer may not have it.
                Row(16, .accepted(next(alone(1002))), nil),
                Row(16, .noted(next(nil, newest: 1001)), read(8)),
            ]),
        Table(
            "an acknowledgement answers what is next",
            sendingAccepted + [
                Row(6, .accepted(next(alone(1001))), nil, due: 9),
                Row(7, answered(.delivered), .acknowledge(light)),
                Row(7, .noted(next(alone(1001))), .prepare),
                Row(7, .prepared, send(alone(1001))),
            ]),
        Table(
            "it is asked again after it had no answer",
            sendingAccepted + [
                Row(6, answered(.retry(.sample("503"), after: nil)), .wait, due: 7),
                Row(7, .timeReached, read(8)),
            ]),
        Table(
            "it is asked where one came while it was read",
            [
                Row(0, .started, read(8)),
                Row(0, .accepted(next(light)), nil),
                Row(0, found(nil, newest: .sample(999)), read(8)),
                Row(0, found(light), .prepare),
            ]),
        Table("it is asked if the append has not answered", empty() + [Row(5, .accepted(nil), read(8))]),
        Table(
            "it is asked if the acknowledgement has not answered",
            sendingAccepted + [
                Row(6, answered(.delivered), .acknowledge(light)),
                Row(6, .noted(nil), read(8)),
            ]),
        Table(
            "it is asked for half of what was rejected",
            sendingAccepted + [Row(6, answered(.rejected(.sample("400"))), read(2))]),
        Table(
            "it is asked behind an update that is quarantined",
            empty() + [
                Row(5, .accepted(next(alone(1000))), .prepare),
                Row(5, .prepared, send(alone(1000))),
                Row(6, answered(.rejected(.sample("400"))), .quarantine(.sample(1000), reason: "400")),
                Row(6, .noted(nil), read(8)),
            ]),
        Table(
            "it is asked after it has failed",
            sendingAccepted + [
                Row(6, answered(.delivered), .acknowledge(light)),
                Row(6, outboxFails, .wait, due: 7),
                Row(7, .timeReached, read(8)),
            ]),
        Table(
            "it is asked behind what it could not take",
            empty() + [
                Row(5, offered, read(8)),
                Row(5, found(nil, newest: .sample(999)), .prepare),
                Row(5, .prepared, send(fromMemory)),
                Row(6, answered(.delivered), read(8)),
                Row(6, found(nil, newest: .sample(999)), .wait, due: 66),
            ]),
        Table(
            "a vehicle that has become private is offline first",
            sendingAccepted + [
                Row(6, answered(.delivered), .acknowledge(light)),
                Row(6, .privateModeBegan, nil),
                Row(6, .noted(next(alone(1001))), .announce(.offline)),
            ]),
        Table(
            "an end, while nothing is pending",
            empty() + [Row(5, .finishWhenEmpty, read(8)), Row(5, found(nil, newest: .sample(999)), .finish)]),
    ]

    private static func newer(_ sequence: Int64) -> UploadBatch {
        UploadBatch(last: .sample(sequence), lastIsPending: true, past: [light.stored].compactMap(\.self))
    }

    /// What comes during a long wait for a token is in front of the one request that ends it.
    static let tokenWaits = [
        Table(
            "what is accepted during a long wait for a token goes out with it, and the token is not asked for again",
            [
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(10, .accepted(nil), nil),
                Row(12, .prepared, read(8)),
                // Accepted while it is read: that is as soon as can be.
                Row(12, .accepted(nil), nil),
                Row(12, found(newer(2000)), send(newer(2000)), due: 15),
                Row(13, answered(.delivered), .acknowledge(newer(2000))),
                Row(13, .noted(nil), read(8)),
            ]),
        Table(
            "also from memory, when the outbox cannot be read by then",
            [
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(10, offered, nil),
                Row(12, .prepared, read(8)),
                Row(12, outboxFails, send(fromMemory)),
            ]),
        Table(
            "a token that nothing is left for is given back to the cache, which has it still",
            [
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(10, .accepted(nil), nil),
                Row(12, .prepared, read(8)),
                Row(12, found(nil), .wait, due: 60),
                Row(20, .accepted(nil), read(8)),
                Row(20, found(newer(2000)), .prepare),
            ]),
        Table(
            "a stop while the outbox is read for a token",
            [
                Row(0, .started, read(8)), Row(0, found(light), .prepare), Row(10, .accepted(nil), nil),
                Row(12, .prepared, read(8)), Row(12, .cancelled, nil), Row(12, found(light), .finish),
            ]),
    ]

    static let failures = [
        Table(
            "an outbox that fails is asked again, sooner for what is in memory",
            [
                Row(0, .started, read(8)),
                Row(0, outboxFails, .wait, due: 1),
                Row(1, .timeReached, read(8)),
                Row(1, outboxFails, .wait, due: 3),
                Row(2, offered, read(8)),
                Row(2, outboxFails, .prepare),
                Row(2, .prepared, send(fromMemory)),
                Row(3, answered(.delivered), read(8)),
                // Alone it would say nothing new.
                Row(3, outboxFails, .wait, due: 4),
            ]),
        Table(
            "an outbox that fails when a heartbeat is due is asked every second",
            [
                Row(0, .started, read(8)),
                Row(59, outboxFails, .wait, due: 60),
                Row(60, .timeReached, read(8)),
                Row(60, outboxFails, .wait, due: 61),
                Row(61, .timeReached, read(8)),
                Row(61, outboxFails, .wait, due: 62),
            ]),
        Table(
            "an outbox that cannot be told what was delivered",
            exchanging(light) + [
                Row(2, answered(.delivered), .acknowledge(light)),
                Row(2, outboxFails, .wait, due: 3),
                Row(3, .timeReached, read(8)),
            ]),
        Table(
            "no token: the network's return ends the wait, but not within a second",
            [
                Row(0, .started, read(8)),
                Row(0, found(light), .prepare),
                Row(0.25, unavailable, .wait, due: 1.25),
                Row(0.5, .networkReturned, nil, due: 1),
                Row(1, .timeReached, read(8)),
                Row(1, found(light), .prepare),
                Row(4, unavailable, .wait, due: 5),
                Row(4.5, .networkReturned, read(8)),
            ]),
        Table(
            "nobody is reached: the network's return ends the wait, a new position does not",
            exchanging(light) + [
                Row(4, failed(.timedOut), .wait, due: 5),
                Row(5, .timeReached, read(8)),
                Row(5, found(light), .prepare),
                Row(5, .prepared, send(light, 4)),
                Row(9, failed(.timedOut), .wait, due: 11),
                Row(9, .accepted(nil), nil, due: 11),
                Row(10, .networkReturned, read(8)),
            ]),
        Table(
            "a refused token is renewed at once, then held",
            exchanging(light) + [
                Row(2, answered(.prepareAgain(.sample("401"))), read(8)),
                Row(2, found(light), .prepare),
                Row(2, .prepared, send(light, 1)),
                Row(3, answered(.prepareAgain(.sample("401"))), .wait, due: 63),
                Row(4, .networkReturned, nil, due: 63),
                Row(63, .timeReached, read(0)),
            ]),
    ]

    private static let undecodable = answered(
        .held(.unanswered(LostExchange(.undecodableAnswer, "Content-Encoding: br"))))

    /// An answer that can't be decoded may have been a success: the same position isn't sent again.
    static let undecodableAnswers = [
        Table(
            "the next probe waits for a newer position, which comes after the wait",
            exchanging(light) + [
                Row(2, undecodable, .wait, due: 62),
                Row(62, .timeReached, read(0)),
                Row(62, found(light), .wait, due: 122),
                Row(122, .timeReached, read(0)),
                Row(122, found(light), .wait, due: 182),
                Row(130, .accepted(nil), read(0)),
                Row(130, found(newer(2000)), .prepare),
                Row(130, .prepared, send(newer(2000))),
                Row(131, undecodable, .wait, due: 251),
            ]),
        Table(
            "a newer position that comes during the wait is sent at its end",
            exchanging(light) + [
                Row(2, undecodable, .wait, due: 62),
                Row(10, .accepted(nil), nil, due: 62),
                Row(62, .timeReached, read(0)),
                Row(62, found(newer(2000)), .prepare),
                Row(62, .prepared, send(newer(2000))),
                Row(63, answered(.delivered), .acknowledge(newer(2000))),
                Row(63, .noted(nil), read(8)),
            ]),
        Table(
            "no heartbeat repeats it",
            exchanging(light) + [
                Row(2, undecodable, .wait, due: 62),
                Row(62, .timeReached, read(0)),
                Row(62, found(nil, newest: light.stored), .wait, due: 122),
            ]),
        Table(
            "a log that has ended has no newer one",
            exchanging(light) + [
                Row(2, undecodable, .wait, due: 62),
                Row(3, .finishWhenEmpty, nil, due: 62),
                Row(62, .timeReached, read(0)),
                Row(62, found(light), .prepare),
            ]),
    ]

    static let aborts = [
        Table(
            "a network that changes beneath an exchange leaves it two seconds",
            exchanging(light) + [
                Row(2, .networkReturned, nil, due: 4),
                Row(3, .networkReturned, nil, due: 4),
                Row(4, .timeReached, .abortExchange),
                Row(4, failed(.cancelled), read(8)),
            ]),
        Table(
            "within a second of the last attempt none begins, whatever the network does",
            exchanging(light) + [
                Row(1.25, .networkReturned, nil, due: 3.25),
                Row(1.5, failed(.connectionFailed), .wait, due: 2),
                Row(1.5, .networkReturned, nil, due: 2),
                Row(2, .timeReached, read(8)),
            ]),
        Table(
            "an answer may come within the two seconds",
            exchanging(light) + [
                Row(2, .networkReturned, nil, due: 4),
                Row(3, answered(.delivered), .acknowledge(light)),
            ]),
        Table(
            "an answer counts although the exchange was given up just then",
            exchanging(light) + [
                Row(2, .networkReturned, nil, due: 4),
                Row(4, .timeReached, .abortExchange),
                Row(4, answered(.delivered), .acknowledge(light)),
            ]),
        Table(
            "a newer position waits three seconds behind a heavy batch, then goes alone",
            exchanging(heavy) + [
                Row(2, .accepted(nil), nil, due: 5),
                Row(3, .accepted(nil), nil, due: 5),
                Row(5, .timeReached, .abortExchange),
                Row(5, failed(.cancelled), read(0)),
            ]),
        Table(
            "it may have waited before the exchange began",
            [
                Row(0, .started, read(8)),
                Row(0, found(heavy), .prepare),
                Row(0, offered, nil),
                Row(0.1, .prepared, send(heavy), due: 3.1),
                // Whichever comes first.
                Row(1, .networkReturned, nil, due: 3),
            ]),
        Table(
            "the patience doubles with each abort, whatever the batch, until a delivery",
            exchanging(light) + [
                Row(2, .accepted(nil), nil, due: 5),
                Row(5, .timeReached, .abortExchange),
                Row(5, failed(.cancelled), read(0)),
                Row(5, found(light), .prepare),
                Row(5, .prepared, send(light, 4)),
                Row(6, .accepted(nil), nil, due: 12),
                Row(7, answered(.delivered), .acknowledge(light)),
                Row(7, .noted(nil), read(8)),
                Row(7, found(newer(2000)), .prepare),
                Row(7, .prepared, send(newer(2000))),
                Row(8, .accepted(nil), nil, due: 12),
            ]),
        Table(
            "an error of its own, while a newer position waits, is what it is",
            exchanging(heavy) + [
                Row(2, .accepted(nil), nil, due: 5),
                Row(5, .timeReached, .abortExchange),
                Row(5, failed(.timedOut), .wait, due: 6),
            ]),
    ]

    static let cancellations = [
        Table("before the start", [Row(0, .cancelled, .finish)]),
        Table(
            "while there is nothing to send",
            [
                Row(0, .started, read(8)), Row(0, found(nil), .wait, due: 60), Row(3, .cancelled, .finish),
            ]),
        Table(
            "during a backoff",
            exchanging(light) + [
                Row(2, answered(.retry(.sample("503"), after: nil)), .wait, due: 3), Row(2, .cancelled, .finish),
            ]),
        Table(
            "while the outbox is read",
            [
                Row(0, .started, read(8)), Row(0, .cancelled, nil), Row(0, found(light), .finish),
            ]),
        Table(
            "while a token is fetched",
            [
                Row(0, .started, read(8)), Row(0, found(light), .prepare), Row(1, .cancelled, nil),
                Row(1, unavailable, .finish),
            ]),
        Table(
            "with a token just come",
            [
                Row(0, .started, read(8)), Row(0, found(light), .prepare), Row(1, .cancelled, nil),
                Row(1, .prepared, .finish),
            ]),
        Table(
            "during an exchange",
            exchanging(light) + [
                Row(2, .cancelled, nil), Row(2, failed(.cancelled), .finish),
            ]),
        Table(
            "during an exchange whose answer comes all the same",
            exchanging(light) + [
                Row(2, .cancelled, nil), Row(2, answered(.delivered), .acknowledge(light)), Row(2, .cancelled, nil),
                Row(2, .noted(nil), .finish),
            ]),
        Table(
            "during an exchange that failed on the way",
            exchanging(light) + [
                Row(2, .cancelled, nil), Row(2, answered(.retry(.sample("503"), after: nil)), .finish),
            ]),
    ]

    @Test(arguments: waits + answers + tokenWaits + failures + undecodableAnswers + aborts + cancellations)
    func goes(by table: Table) throws {
        let upload = UploadStateDriver(backlogUpdatesPerSecond: table.backlogUpdatesPerSecond)
        for (number, row) in table.rows.enumerated() {
            upload.now = .milliseconds(Int(row.at * 1000))
            let step = upload.take(row.event)
            #expect(step.action?.withoutRequest == row.action, "row \(number + 1)")
            #expect(upload.state.dueAt == row.due.map { .milliseconds(Int($0 * 1000)) }, "row \(number + 1)")
        }
    }

    /// How long ago the request with update 1000 in front began, at second 10, after these events.
    @Test(
        arguments: [
            ("nothing was sent", [], nil),
            ("it is in progress", exchanging(light), 9),
            ("it was taken", exchanging(light) + [Row(2, answered(.delivered), nil)], 9),
            ("it failed", exchanging(light) + [Row(2, failed(.timedOut), nil)], nil),
            ("its token was rejected", exchanging(light) + [Row(2, answered(.prepareAgain(.sample("401"))), nil)], nil),
            (
                "it was aborted", exchanging(light) + [Row(2, .networkReturned, nil), Row(4, failed(.cancelled), nil)],
                nil
            ),
            (
                "another one leads",
                [
                    Row(0, .started, nil), Row(0, found(newer(2000)), nil), Row(0, .prepared, nil),
                    Row(1, answered(.delivered), nil),
                ], nil
            ),
            (
                "it was repeated since",
                exchanging(light) + [
                    Row(2, answered(.delivered), nil), Row(2, .noted(nil), nil), Row(2, found(repetition), nil),
                    Row(3, .prepared, nil), Row(4, answered(.delivered), nil),
                ], 9
            ),
            (
                "it is tried again for less than a second",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(9.5, .timeReached, nil), Row(9.5, found(light), nil),
                    Row(9.5, .prepared, nil),
                ], 0.5
            ),
            (
                "it is tried again, and gets no answer either",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(8, .timeReached, nil), Row(8, found(light), nil),
                    Row(8, .prepared, nil),
                ], nil
            ),
            (
                "it was tried again, and taken",
                exchanging(light) + [
                    Row(2, failed(.timedOut), nil), Row(8, .timeReached, nil), Row(8, found(light), nil),
                    Row(8, .prepared, nil), Row(9.5, answered(.delivered), nil),
                ], 2
            ),
        ] as [(String, [Row], Double?)])
    func knowsHowLongAgoAPositionWasSent(_ what: String, rows: [Row], seconds: Double?) throws {
        let upload = UploadStateDriver()
        for row in rows {
            upload.now = .milliseconds(Int(row.at * 1000))
            upload.take(row.event)
        }
        let elapsed = upload.state.timeSinceSent(StoredUpdate.sample(1000).update, at: .seconds(10))
        #expect(elapsed == seconds.map { .milliseconds(Int($0 * 1000)) })
    }

    /// What the observer hears, in its order.
    @Test func tellsWhatItDoes() throws {
        let upload = UploadStateDriver()
        let (error, batch) = (OutboxError(.unusable), Self.light)
        let traffic = Traffic(bytesSent: 1, bytesReceived: 2)
        func waiting(_ seconds: Int) -> ReportingEvent { .waiting(delay: .seconds(seconds)) }
        let rows: [(UploadEvent, [ReportingEvent])] = [
            (.started, []),
            (.outboxRead(nil, newest: nil), [.idle]),
            (.accepted(nil), []),
            // Once, until something was sent.
            (.outboxRead(nil, newest: nil), []),
            (.accepted(nil), []),
            (Self.outboxFails, [.outboxFailed(error), waiting(1)]),
            (.accepted(nil), []),
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
            (.noted(nil), []),
            (.outboxRead(nil, newest: nil), [.idle]),
        ]
        for (event, reports) in rows {
            if case .timeReached = event { upload.now = upload.state.dueAt ?? upload.now }
            #expect(upload.take(event).reports == reports)
        }
    }

    /// An event that doesn't fit what is in progress is reported, and all begins again.
    @Test(
        arguments: [
            ([], .noted(nil)), ([], .outboxRead(nil, newest: nil)), (exchanging(light), .prepared),
            (exchanging(light), .started), (exchanging(light), .announced(.delivered)),
            (exchanging(light) + [Row(2, answered(.delivered), nil)], answered(.delivered)),
            ([Row(0, .started, nil)], .notPrepared(.sample("no token"))),
        ] as [([Row], UploadEvent)])
    func reportsAnEventOfAnotherPhase(rows: [Row], event: UploadEvent) {
        let upload = UploadStateDriver()
        for row in rows {
            upload.now = .milliseconds(Int(row.at * 1000))
            upload.take(row.event)
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
