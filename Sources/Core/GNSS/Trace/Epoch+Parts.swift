/// An epoch seen from outside: which of its parts a sentence has changed.
extension Epoch {
    /// How a part stands; the same before and after a sentence that did not touch it.
    struct Standing: Equatable {
        var rank = 0
        var value: Double?
    }

    /// How `part` stands; the body's heading is not the epoch's own.
    func standing(of part: EpochPart) -> Standing {
        switch part {
        case .position: Standing(latitude)
        case .date: Standing(value: dated.map { Double($0.date) })
        case .speed: Standing(speed)
        case .course: Standing(course)
        case .altitude: Standing(value: altitudeMeters)
        case .geoidSeparation: Standing(value: geoidSeparationMeters)
        case .accuracy: Standing(accuracy)
        case .hdop: Standing(hdop)
        case .satellitesUsed: Standing(value: satellitesUsed.map(Double.init))
        case .quality: Standing(rank: Int(qualityRank) + (isEstimated ? 256 : 0))
        case .mode:
            Standing(rank: mode != nil ? 2 : makersMode != nil ? 1 : 0, value: mode == .threeDimensional ? 3 : 2)
        case .bodyHeading: Standing()
        }
    }
}

extension Epoch.Standing {
    fileprivate init(_ ranked: Ranked) { self.init(rank: Int(ranked.rank), value: ranked.value) }
}
