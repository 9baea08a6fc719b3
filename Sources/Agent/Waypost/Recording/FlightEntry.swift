/// One line of a flight recording: when, and one thing that happened, named by the key that is there.
///
/// No token, header, body or coordinate is in it. The keys are the format, version 1; `docs/operations.md` has the
/// table.
package struct FlightEntry: Sendable, Hashable, Codable {
    /// Milliseconds since the start of the run, monotonic.
    package var at: Int

    /// The first line of a file: the version of the format.
    package var flight: Int?
    /// The run's start by the host's clock, which names the run; in every file of it.
    package var run: String?
    /// Whether something keeps that clock right.
    package var synchronized: Bool?
    package var version: String?

    /// The receiver's line: `opened` or `closed`.
    package var line: String?
    /// So many bytes were read, the next ones in the receiver's file of the same number.
    package var read: Int?

    /// A request went out: `update`, or `state` for one without a position.
    package var request: String?
    /// What became of a request: `delivered`, `tokenRefused`, `retry`, `throttled`, `unreachable`,
    /// `intercepted`, `hold`, `rejected`.
    package var answer: String?
    /// Of a request or its answer: which one, from 1.
    package var number: Int?
    package var status: Int?
    /// Why no answer came, by the words of `HTTPTransportError.Code`.
    package var error: String?
    /// Milliseconds.
    package var took: Int?
    package var sent: Int?
    package var received: Int?
    /// Milliseconds for which the other side asked to be left alone.
    package var after: Int?

    /// What became of asking the issuer for a token: `fetched`, or a word of `AuthorizationError.Code`.
    package var token: String?
    /// Milliseconds of life of the token.
    package var lifetime: Int?

    /// `returned`: the kernel announced a new way out.
    package var network: String?
    /// Chance drawn for a wait, of `upload` or `token`.
    package var draw: String?
    package var value: Double?

    /// An update was accepted under this number.
    package var accepted: Int64?
    /// An update could not be stored, by the word of `OutboxError.Code`.
    package var notStored: String?
    /// UTC of the fix of that update.
    package var timeOfFix: String?
    /// A request is made of so many updates that wait; 0 when the newest one is repeated.
    package var uploading: Int?
    /// Nothing is sent for so many milliseconds.
    package var waiting: Int?
    /// Why: the answer's word, `token` or `outbox`.
    package var reason: String?
    /// This update was set aside.
    package var quarantined: Int64?
    /// The account has changed in what was evicted or set aside: all that was evicted.
    package var evicted: Int64?
    /// A stage that stood still, and what was tried.
    package var repair: String?

    /// So many entries could not be kept: the disk was too slow.
    package var lost: Int?

    package init(at: Int) { self.at = at }

    /// The version of the format that is written and read.
    static let format = 1

    /// Whether its numbers can be those of a run: none is beyond a hundred years of milliseconds, so that they can be
    /// added and subtracted.
    var isPlausible: Bool {
        let numbers = [at, read, number, status, took, sent, received, after, lifetime, uploading, waiting, lost]
        let updates = [accepted, quarantined, evicted]
        return numbers.allSatisfy { ($0?.magnitude ?? 0) < 1 << 42 }
            && updates.allSatisfy { ($0?.magnitude ?? 0) < 1 << 42 }
    }
}

extension FlightEntry {
    /// With one more word.
    func with<Value>(_ key: WritableKeyPath<FlightEntry, Value?>, _ value: Value?) -> FlightEntry {
        var entry = self
        entry[keyPath: key] = value
        return entry
    }
}
