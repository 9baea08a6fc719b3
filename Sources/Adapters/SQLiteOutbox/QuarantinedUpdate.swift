package import LocationReporting
package import ReportedText

/// An update that the server rejected for good, with the server's words.
package struct QuarantinedUpdate: Sendable, Hashable {
    package let stored: StoredUpdate
    /// The server's words, cut to `maximumReasonBytes`.
    package let reason: ReportedText

    /// Enough for Fleet Engine's error bodies, and few enough for a row to fit on one page.
    package static let maximumReasonBytes = 512

    package init(stored: StoredUpdate, reason: ReportedText) {
        self.stored = stored
        self.reason = reason.cut(to: Self.maximumReasonBytes)
    }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        stored.update.write(into: &writer)
        writer.write(bytes: reason.description.utf8)
        return SealedRecord.seal(.quarantined, id: stored.sequence, payload: writer.bytes)
    }

    /// `nil` when the bytes are not what was written for this sequence.
    init?(_ bytes: ArraySlice<UInt8>, sequence: Int64) {
        guard RecordReader.plausibleSequences.contains(sequence),
            case (.quarantined, var reader)? = SealedRecord.open(bytes, id: sequence),
            let update = LocationUpdate(from: &reader)
        else { return nil }
        self.init(
            stored: StoredUpdate(sequence: sequence, update: update),
            reason: ReportedText(bytes: reader.rest, limit: Self.maximumReasonBytes))
    }
}
