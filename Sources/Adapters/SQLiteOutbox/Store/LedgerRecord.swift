import LocationReporting

/// The row with id 0: the account as it was when a row was last removed.
///
/// Appends alone do not change it. What came later is found from the rows: those after `account.lastSequence` are
/// there without a gap, and the last of them names the newest.
struct LedgerRecord: Sendable, Hashable {
    static let id: Int64 = 0

    /// Its `newest` is `nil` when that one is pending: then it is found in its own row.
    var account: OutboxAccount
    var newestSequence: Int64
    /// Every sequence below is delivered, evicted or quarantined: old copies of such rows are worth nothing.
    var oldestPending: Int64

    init(_ account: OutboxAccount, oldestPending: Int64) {
        self.account = account
        newestSequence = account.newest?.sequence ?? 0
        self.oldestPending = oldestPending
        self.account.newest = nil
    }

    /// Grows with every change, so that of two copies the later one is known; the revision is 0 in schema version 1.
    var age: (Int64, Int64, Int64) {
        let ledger = account.ledger
        return (account.revision, ledger.accepted, ledger.delivered + ledger.evicted + ledger.quarantined)
    }

    /// The later of two copies; the first where both are of one age.
    static func later(_ one: LedgerRecord?, _ other: LedgerRecord?) -> LedgerRecord? {
        guard let one, let other else { return one ?? other }
        return one.age < other.age ? other : one
    }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        for value in [
            account.lastSequence, account.pending, account.delivered, account.revision, newestSequence, oldestPending,
        ] {
            writer.write(value)
        }
        account.quarantined.write(into: &writer)
        account.evictions.write(into: &writer)
        account.thinning.write(into: &writer)
        writer.write(account.newestDelivered?.sequence ?? 0)
        account.newestDelivered?.update.write(into: &writer)
        return SealedRecord.seal(.ledger, id: Self.id, payload: writer.bytes)
    }

    /// `nil` when the bytes are not what was written.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard case (let kind, var reader)? = SealedRecord.open(bytes, id: Self.id) else { return nil }
        account = OutboxAccount()
        (newestSequence, oldestPending) = (0, 0)
        let isRead =
            switch kind {
            case .ledger: readAccount(&reader)
            case .firstLedger: readFirstAccount(&reader)
            case .update, .quarantined: false
            }
        guard isRead, let sequence = reader.count() else { return nil }
        guard sequence > 0 else { return }
        guard let update = LocationUpdate(from: &reader) else { return nil }
        account.newestDelivered = StoredUpdate(sequence: sequence, update: update)
    }

    private mutating func readAccount(_ reader: inout RecordReader) -> Bool {
        guard let values = Self.integers(6, &reader), let quarantined = UpdateTally(from: &reader),
            let evictions = Evictions(from: &reader), let thinning = ThinningProgress(from: &reader)
        else { return false }
        (account.lastSequence, account.pending, account.delivered) = (values[0], values[1], values[2])
        (account.revision, newestSequence, oldestPending) = (values[3], values[4], values[5])
        (account.quarantined, account.evictions, account.thinning) = (quarantined, evictions, thinning)
        return true
    }

    /// Schema version 1 knew two reasons, and no times of those in quarantine.
    private mutating func readFirstAccount(_ reader: inout RecordReader) -> Bool {
        guard let values = Self.integers(6, &reader), let oldest = UpdateTally(from: &reader),
            let damage = UpdateTally(from: &reader)
        else { return false }
        (account.lastSequence, account.pending, account.delivered) = (values[0], values[1], values[2])
        (account.quarantined.count, newestSequence, oldestPending) = (values[3], values[4], values[5])
        (account.evictions[.oldest], account.evictions[.damage]) = (oldest, damage)
        return true
    }

    private static func integers(_ count: Int, _ reader: inout RecordReader) -> [Int64]? {
        var values: [Int64] = []
        while values.count < count {
            guard let value = reader.count() else { return nil }
            values.append(value)
        }
        return values
    }
}
