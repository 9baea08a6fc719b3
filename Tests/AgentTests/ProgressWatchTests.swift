import FleetEngine
import GNSS
import HTTPMessages
import LocationReporting
import ReportedText
import Testing
import TimeAndChance
import VehicleAuthorization

@testable import Waypost

@Suite struct ProgressWatching {
    static let patience: [Stage: ProgressWatch.Patience] = Dictionary(
        uniqueKeysWithValues: Stage.allCases.map {
            ($0, ProgressWatch.Patience(.seconds(30), afterRepair: .seconds(60)))
        })

    var watch = ProgressWatch(patience: patience)

    /// Lets `seconds` pass, a second at a time, and gives what is to be done and when.
    mutating func pass(_ seconds: Int) -> [String] {
        var told: [String] = []
        for second in 1...seconds {
            for action in watch.tick(after: .seconds(1)) {
                switch action {
                case .repair(let stall): told.append("\(second) repair \(stall.stage) \(stall.repairs)")
                case .end(let stall): told.append("\(second) end \(stall.stage) \(stall.repairs)")
                }
            }
        }
        return told
    }

    @Test mutating func isContentWithStagesThatOweNothing() {
        #expect(pass(1000) == [])
    }

    /// First the stage alone, step by step; at last the process, once.
    @Test(arguments: [
        (Stage.receiver, ["30 repair receiver 0", "90 end receiver 1"]),
        (.intake, ["30 end intake 0"]),
        (.store, ["30 repair store 0", "90 end store 1"]),
        (.token, ["30 repair token 0", "90 end token 1"]),
        (.transport, ["30 repair transport 0", "90 repair transport 1", "150 end transport 2"]),
        (.upload, ["30 repair upload 0", "90 end upload 1"]),
        (.tasks, ["30 end tasks 0"]),
    ])
    mutating func repairsACallThatDoesNotReturnAndThenEnds(stage: Stage, told: [String]) {
        _ = watch.began(stage)
        #expect(pass(500) == told)
    }

    @Test mutating func isContentWhileCallsReturn() {
        for _ in 0..<20 {
            let call = watch.began(.token)
            #expect(pass(29) == [])
            watch.ended(.token, call: call)
        }
    }

    /// One call that hangs is seen though others return beside it.
    @Test mutating func seesTheOneThatHangsAmongOthers() {
        _ = watch.began(.store)
        for _ in 0..<2 {
            let call = watch.began(.store)
            #expect(pass(10) == [])
            watch.ended(.store, call: call)
        }
        #expect(pass(10) == ["10 repair store 0"])
    }

    @Test mutating func countsNoGivenUpCallAsProgress() {
        let first = watch.began(.transport)
        #expect(pass(30) == ["30 repair transport 0"])
        watch.gaveUp(.transport, call: first)
        let second = watch.began(.transport)
        #expect(pass(60) == ["60 repair transport 1"])
        watch.gaveUp(.transport, call: second)
        _ = watch.began(.transport)
        #expect(pass(60) == ["60 end transport 2"])
    }

    @Test mutating func beginsAnewAfterProgress() {
        let first = watch.began(.transport)
        #expect(pass(30) == ["30 repair transport 0"])
        watch.gaveUp(.transport, call: first)
        let second = watch.began(.transport)
        watch.ended(.transport, call: second)
        #expect(!watch.isUnderRepair)
        _ = watch.began(.transport)
        #expect(pass(30) == ["30 repair transport 0"])
    }

    @Test mutating func tellsHowLongItHasStoodStillThroughRepairs() {
        _ = watch.began(.token)
        #expect(pass(89) == ["30 repair token 0"])
        let stall = Stall(stage: .token, duration: .seconds(90), repairs: 1)
        #expect(watch.tick(after: .seconds(1)) == [.end(stall)])
        #expect(
            stall.description
                == "token: the token provider gives neither a token nor an error for 90 s, through 1 repair")
    }

    /// A machine that slept, a process that was stopped: that time counts for little.
    @Test mutating func doesNotCountTimeInWhichNothingCouldRun() {
        _ = watch.began(.store)
        #expect(watch.tick(after: .seconds(86_400)) == [])
        #expect(watch.tick(after: .seconds(-5)) == [])
        #expect(pass(24) == [])
        #expect(pass(1) == ["1 repair store 0"])
    }

    @Test mutating func wantsAThreadThatGoesRound() {
        watch.moved(.receiver)
        #expect(pass(29) == [])
        watch.moved(.receiver)
        #expect(pass(29) == [])
        watch.rests(.receiver)  // the log has come to its end
        #expect(pass(300) == [])
    }

    static let stored = StoredUpdate(
        sequence: 1,
        update: LocationUpdate(timeOfFix: UTCTime(year: 2026, month: 1, day: 5), latitude: 50, longitude: 10))
    static let batch = UploadBatch(last: stored, lastIsPending: true, past: [])

    /// What the upload loop has said last, and when it is found to stand still.
    @Test(
        arguments: [
            ([.uploading(batch)], 30),
            ([.waiting(delay: .seconds(600), reason: "")], 630),
            ([.noToken(AuthorizationError(.refused, ""))], 30),
            ([.uploading(batch), .outboxFailed(OutboxError(.full, ""))], 30),
            ([.idle, .outboxFailed(OutboxError(.full, ""))], nil),  // of the outbox's care
            ([.idle], nil),
            ([.idle, .failed(.hold(reason: ""), traffic: HTTPTraffic())], nil),  // of the vehicle's state
            ([.idle, .stateSent(.offline, traffic: HTTPTraffic())], nil),
            ([.idle, .accepted(stored)], 30),
            ([.idle, .notStored(OutboxError(.full, ""))], 30),
            ([.idle, .accepted(stored), .idle], nil),
            ([.waiting(delay: .seconds(600), reason: ""), .accepted(stored)], 630),
            ([.uploading(batch), .delivered(batch, traffic: HTTPTraffic(), took: .zero), .idle], nil),
            ([.uploading(batch), .failed(.hold(reason: ""), traffic: HTTPTraffic())], 30),
        ] as [([ReportingEvent], Int?)])
    mutating func allowsTheUploadLoopItsReasons(events: [ReportingEvent], standsStillAfter: Int?) {
        for event in events { watch.take(event) }
        let told = pass(1000).first
        #expect(told == standsStillAfter.map { "\($0) repair upload 0" })
    }

    /// A loop that is stuck is seen although the care of the outbox and the vehicle's state go on beside it.
    @Test(
        arguments: [
            .outboxFailed(OutboxError(.full, "")), .failed(.hold(reason: ""), traffic: HTTPTraffic()),
            .stateSent(.offline, traffic: HTTPTraffic()),
        ] as [ReportingEvent])
    mutating func takesNothingBesideTheUploadLoopForItsSign(event: ReportingEvent) {
        watch.take(.uploading(Self.batch))
        var told: [String] = []
        for _ in 0..<20 {
            watch.take(event)
            told += pass(2)
        }
        #expect(told == ["2 repair upload 0"])
    }

    @Test mutating func takesADeliveryForASignOfTheUploadLoop() {
        watch.take(.uploading(Self.batch))
        #expect(pass(29) == [])
        watch.take(.delivered(Self.batch, traffic: HTTPTraffic(), took: .zero))
        #expect(pass(29) == [])
        #expect(pass(1) == ["1 repair upload 0"])
    }
}
