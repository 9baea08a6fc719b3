import GNSS

/// A whole drive as two files: what the receiver sends, and the fixes it stands for as JSON Lines.
package struct GeneratedDrive: Sendable {
    package private(set) var sentences: [UInt8] = []
    package private(set) var expected: [UInt8] = []

    package init(_ situation: DriveSituation) {
        for epoch in Drive(situation) {
            sentences += epoch.sentences
            if let truth = epoch.truth { JSONLinesFormat.append(truth, to: &expected) }
        }
    }
}
