/// The parts of a fix, each of which an epoch may take from another sentence.
enum EpochPart: String, CaseIterable {
    case position, date, speed, course, altitude, accuracy, hdop = "HDOP"
    case geoidSeparation = "geoid separation"
    case satellitesUsed = "satellites used"
    case quality
    case mode = "solution mode"
    case bodyHeading = "body heading"
}
