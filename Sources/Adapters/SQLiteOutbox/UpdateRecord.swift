import LocationReporting

/// A row of a pending update.
struct UpdateRecord: Sendable, Hashable {
    let stored: StoredUpdate
    /// Which update was the newest by time of fix once this one was accepted: most often itself. With it an append
    /// needs no change of the ledger's row, and opening finds the newest without reading the backlog.
    let newestSequence: Int64

    var bytes: [UInt8] {
        var writer = RecordWriter()
        writer.write(stored.sequence - newestSequence)
        stored.update.write(into: &writer)
        return SealedRecord.seal(.update, id: stored.sequence, payload: writer.bytes)
    }

    init(_ stored: StoredUpdate, newestSequence: Int64) {
        (self.stored, self.newestSequence) = (stored, newestSequence)
    }

    /// `nil` when the bytes are not what was written for this sequence.
    init?(_ bytes: ArraySlice<UInt8>, sequence: Int64) {
        guard RecordReader.plausibleSequences.contains(sequence),
            case (.update, var reader)? = SealedRecord.open(bytes, id: sequence), let distance = reader.count(),
            let update = LocationUpdate(from: &reader)
        else { return nil }
        self.init(StoredUpdate(sequence: sequence, update: update), newestSequence: sequence - distance)
    }
}
