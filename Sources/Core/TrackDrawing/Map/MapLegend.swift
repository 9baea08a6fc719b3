/// A kind of marker that the legend explains. The cases are in the order of the legend.
enum MapKey: CaseIterable, Sendable {
    case plainTrack, unstatedSpeed, start, end, vehicle, vehicleWithoutHeading, lastPosition, lastPositionWithoutHeading
    case reported, reportedLive, reportedPast, late, stop, stops, shortStop, gap, jump, backward

    /// The marker as it is drawn, followed by its meaning.
    var meaning: Markup {
        switch self {
        case .plainTrack: "<i class=\"line plain\"></i>track of the log"
        case .unstatedSpeed: "<i class=\"line k\(SpeedScale.classCount)\"></i>speed not reported"
        case .start: "<i class=\"dot start\"></i>start"
        case .end: "<i class=\"dot end\"></i>end"
        case .vehicle: "<i class=\"dot now\"></i>vehicle now"
        case .vehicleWithoutHeading: "<i class=\"dot now disc\"></i>vehicle now, without a heading"
        case .lastPosition: "<i class=\"dot now last\"></i>last position"
        case .lastPositionWithoutHeading: "<i class=\"dot now disc last\"></i>last position, without a heading"
        case .reported: "<i class=\"line reported\"></i>reported track"
        case .reportedLive: "<i class=\"dot reported\"></i>update"
        case .reportedPast: "<i class=\"dot reported past\"></i>past location"
        case .late: "<i class=\"dot late\"></i>past location: a shape point, or delivered later"
        case .stop: "<i class=\"dot stop\">1</i>stop of a minute or more"
        case .stops: "<i class=\"dot stop\">1–2</i>several stops"
        case .shortStop: "<i class=\"dot halt\"></i>short stop, 10 s or more"
        case .gap: "<i class=\"line gap\"></i>no fix"
        case .jump: "<i class=\"line jump\"></i>jump: too far for the elapsed time"
        case .backward: "<i class=\"dot back\"></i>time goes back"
        }
    }
}

/// The legend of a map's colours and markers.
struct MapLegend {
    /// The share of each speed class; `nil` if the track isn't coloured by speed.
    var speeds: SpeedShares?
    var keys: Set<MapKey> = []

    var markup: Markup {
        var legend: Markup = "<div class=\"legend\">\n"
        if let percentages = speeds?.percentages {
            legend += "<div class=\"scale\"><span>Speed, km/h, and share of the driving</span><ol>"
            for (index, percentage) in percentages.enumerated() {
                let label = SpeedScale.label(ofClass: index)
                legend += "<li><i class=\"k\(index)\"></i>\(label)<small>\(percentage) %</small></li>"
            }
            legend.add("</ol></div>")
        }
        legend += "<ul>"
        for key in MapKey.allCases where keys.contains(key) { legend += "<li>\(key.meaning)</li>" }
        legend.add("</ul></div>")
        return legend
    }
}
