import FoundationEssentials
import Glibc
import ReceiverSimulator

// Writes the generated drives of `fixtures/nmea`, each with the fixes that an ideal decoder returns. With a number of
// seconds as its argument, writes a town drive of that length to standard output instead.

if let seconds = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
    for epoch in Drive(.town, duration: .seconds(seconds)) {
        let sentences = epoch.sentences
        guard unsafe write(STDOUT_FILENO, sentences, sentences.count) == sentences.count else { exit(1) }
    }
} else {
    let directory = URL(filePath: #filePath).appending(path: "../../../fixtures/nmea").standardizedFileURL
    for situation in DriveSituation.allCases {
        let drive = GeneratedDrive(situation)
        try Data(drive.sentences).write(to: directory.appending(path: "\(situation.rawValue).nmea"))
        try Data(drive.expectedFixes).write(to: directory.appending(path: "\(situation.rawValue).expected"))
    }
}
