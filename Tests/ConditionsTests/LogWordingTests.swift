import Conditions
import Reporting
import Testing

@Suite struct LogWordings {
    private static func noFix(
        _ cause: FixAbsence.Cause, isRecorded: Bool = true, leftOut: FixAbsence.OmittedSentences? = nil
    ) -> LogFault {
        .noFix(FixAbsence(cause, isRecorded: isRecorded, leftOut: leftOut))
    }

    @Test(
        arguments: [
            (.directory, "a.log is a directory; specify the logs in it"),
            (.compressed(with: "xz", command: "xz -d"), "a.log is compressed with xz; decompress it first (xz -d)"),
            (
                .utf16(encoding: "UTF-16LE"),
                "a.log is UTF-16 text; convert it first: iconv -f UTF-16LE -t UTF-8 LOG > NEW"
            ),
            (.zeroDevice, "a.log is a device that yields only zeros; use a log or a serial port"),
            (.empty, "a.log is empty; record the receiver's output into it first"),
            (.compressedTwice, "a.log is compressed twice; decompress it once (gunzip)"),
            (
                .archiveWithoutContents,
                "a.log is an archive without contents; record the receiver's output into it first"
            ),
            (
                .archiveFollowedByOtherData(at: 7),
                "a.log is an archive followed by other data, which begins at byte 7; truncate the file at that byte"
            ),
            (
                .archiveDamaged(reason: "incorrect data check", near: 9),
                "a.log is an archive that is damaged near byte 9 (incorrect data check); copy it again"
            ),
            (.followedArchive, "a.log is a gzip archive, which can't be followed; decompress it (gunzip)"),
            (
                .notOpened(.pattern),
                "a.log does not exist; no file matches the pattern, or it is in quotes, in which no shell expands it"
            ),
            (.notOpened(.url), "a.log is not a file; download it first, and specify the file"),
            (.archiveCutShort, "a.log is a truncated archive; copy it again"),
            (.notOpened(.missing), "a.log does not exist; check the path"),
            (.notOpened(.forbidden(closedDirectory: nil)), "a.log can't be read by this user; run chmod a+r a.log"),
            (.foreign(.gpx), "a.log is a GPX track without sentences; use the receiver's log from which it was made"),
            (.foreign(.token), "a.log is a token; use a receiver's log"),
            (
                .wrongChecksums(sentences: 30),
                "a.log contains 30 sentences, none with a correct checksum; use the original log, because this one was "
                    + "altered afterwards, or damaged on the line"
            ),
            (
                .missingChecksums(sentences: 1, logs: 1),
                "a.log contains no fix, but 1 sentence without a checksum; if the receiver sends none, set "
                    + "receiver.acceptMissingChecksum to true, or run replay, fixes or map with "
                    + "--accept-missing-checksum"
            ),
            (
                noFix(.undated(2)),
                "no fix with a date in a.log: 2 fixes, but no RMC or ZDA sentence that dates them; have the receiver "
                    + "also send RMC or ZDA, and record the log again"
            ),
            (
                noFix(.noPositionSentences, isRecorded: false),
                "no fix in a.log: no sentence contains a position with its time; have the receiver send RMC and GGA"
            ),
            (
                noFix(.otherShips),
                "no fix in a.log: AIS messages of other ships, but no position of this vehicle; use a log from a "
                    + "GNSS receiver"
            ),
            (
                noFix(
                    .rejectedPositions(
                        rejected: 3, stated: 4, field: "longitude out of range", count: 3, log: "b.log", firstLine: 2)),
                "no fix in a.log: 3 of 4 sentences with a position were rejected: longitude out of range in 3; see the first with "
                    + "waypost fixes b.log --explain 2; set the receiver to NMEA 0183, and record the log again"
            ),
            (
                noFix(.noPositionSentences, isRecorded: false, leftOut: FixAbsence.OmittedSentences(3, of: 4)),
                "no fix in a.log: 3 of 4 sentences left out because of wrong checksums; in the rest, no sentence "
                    + "contains a position with its time; check the cable, and any program that alters the sentences"
            ),
        ] as [(LogFault, String)])
    func nameCauseAndRemedy(fault: LogFault, sentence: String) {
        #expect("\(FixSourceError(log: "a.log", fault))" == sentence)
    }

    @Test(
        arguments: [
            (
                .leftOut(log: "a.log", FixAbsence.OmittedSentences(1, of: 150), .wrong, firstLine: 150),
                "a.log: 1 of 150 sentences left out because the checksum is wrong (on line 150), damaged on the line"
            ),
            (
                .leftOut(log: "a.log", FixAbsence.OmittedSentences(2, of: 4), .both, firstLine: 1),
                "a.log: 2 of 4 sentences left out because the checksum is wrong, or cut off (the first on line 1); use the "
                    + "original log, because this one was altered afterwards, or damaged on the line"
            ),
            (
                .outOfOrder(previous: "b", end: "10:00", next: "a", start: "9:00"),
                "a begins at 9:00, before the previous log, b, ends at 10:00; list logs in chronological order, each "
                    + "as it was recorded"
            ),
            (
                .timeGoesBack(log: "a.log", times: 1),
                "a.log: timestamps jump backwards 1 time; a fix after such a jump is replayed a millisecond after "
                    + "the previous fix; list logs in chronological order, each as it was recorded"
            ),
            (
                .timeGoesBack(log: "a.log", times: 2),
                "a.log: timestamps jump backwards 2 times; a fix after such a jump is replayed a millisecond after "
                    + "the previous fix; list logs in chronological order, each as it was recorded"
            ),
        ] as [(LogRemark, String)])
    func describeRemarksOnALog(remark: LogRemark, sentence: String) { #expect("\(remark)" == sentence) }
}
