/// Where and how much of a live receiver's output is kept, so that a day on the road can be replayed at the desk.
package struct RecordingSettings: Sendable {
    /// Made when it is missing, for its owner only.
    package var folder: String
    /// A file is closed and the next one begun when it holds this much.
    package var fileBytes: Int
    /// Only the newest so many files are kept.
    package var files: Int
    /// Told once when recording has to end: a full disk is no reason to stop reporting.
    package var reportEnd: @Sendable (String) -> Void

    package init(
        folder: String, fileBytes: Int = 4 << 20, files: Int = 8, reportEnd: @escaping @Sendable (String) -> Void
    ) {
        (self.folder, self.fileBytes, self.files, self.reportEnd) = (folder, fileBytes, max(1, files), reportEnd)
    }
}
