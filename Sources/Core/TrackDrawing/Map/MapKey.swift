/// What a legend can explain, in the order in which it does.
enum MapKey: CaseIterable, Sendable {
    case plainTrack, unstatedSpeed, start, end, vehicle, vehicleWithoutHeading, lastPosition, lastPositionWithoutHeading
    case told, toldLive, toldPast, late, stop, stops, halt, gap, jump, backward

    /// The mark as it is drawn, and its meaning; `example` is the text of a mark of several stops.
    func meaning(example: String) -> Markup {
        switch self {
        case .plainTrack: "<i class=\"line plain\"></i>track of the log"
        case .unstatedSpeed: "<i class=\"line k\(SpeedScale.palette)\"></i>speed not stated"
        case .start: "<i class=\"dot start\"></i>start"
        case .end: "<i class=\"dot end\"></i>end"
        case .vehicle: "<i class=\"dot now\"></i>vehicle now"
        case .vehicleWithoutHeading: "<i class=\"dot now disc\"></i>vehicle now, without a heading"
        case .lastPosition: "<i class=\"dot now last\"></i>last position"
        case .lastPositionWithoutHeading: "<i class=\"dot now disc last\"></i>last position, without a heading"
        case .told: "<i class=\"line told\"></i>as told"
        case .toldLive: "<i class=\"dot told\"></i>update"
        case .toldPast: "<i class=\"dot told past\"></i>past location"
        case .late: "<i class=\"dot late\"></i>past location: a shape point, or delivered later"
        case .stop: "<i class=\"dot stop\">1</i>stop of a minute or more"
        case .stops: "<i class=\"dot stop\">\(example)</i>several stops"
        case .halt: "<i class=\"dot halt\"></i>short stop, 10 s or more"
        case .gap: "<i class=\"line gap\"></i>no fix"
        case .jump: "<i class=\"line jump\"></i>jump: too far for the time"
        case .backward: "<i class=\"dot back\"></i>time goes back"
        }
    }
}

/// One drawing in the making: what is on it, where there is still room for labels, and what a legend has to explain.
struct MapSheet: Sendable {
    var svg: Markup = ""
    var labels: LabelPlacement
    private(set) var keys: Set<MapKey> = []
    /// The text of the first mark of several stops.
    private(set) var stopsExample: String?

    init(_ view: MapView) { labels = LabelPlacement(width: view.width, height: view.height) }

    /// Notes that something is drawn which needs an explanation.
    mutating func explain(_ key: MapKey) { keys.insert(key) }

    /// Notes a mark of several stops.
    mutating func explain(stops text: String) {
        keys.insert(.stops)
        stopsExample = stopsExample ?? text
    }
}

/// What the colours of a map mean, and its marks: those that are drawn.
struct MapLegend {
    let map: TrackMap
    /// Of each layout.
    let sheets: [(layout: PageLayout, sheet: MapSheet)]

    var markup: Markup {
        var legend: Markup = "<div class=\"legend\">\n"
        if !map.isPlain, map.paths.data.dropLast().contains(where: { !$0.isEmpty }) { legend += speeds }
        legend.add("<ul>")
        let example = sheets.lazy.compactMap(\.sheet.stopsExample).first ?? ""
        for key in MapKey.allCases {
            let layouts = sheets.filter { $0.sheet.keys.contains(key) }.map(\.layout)
            guard let first = layouts.first else { continue }
            // What is on one of the drawings only is explained where that one is shown.
            let kind: Markup = layouts.count < sheets.count ? " class=\"\(first.rawValue)\"" : ""
            legend.add("<li\(kind)>\(key.meaning(example: example))</li>")
        }
        legend.add("</ul></div>")
        return legend
    }

    private var speeds: Markup {
        let standing = map.speeds.standingPercentage
        let share: Markup =
            standing == 0 || standing == 100
            ? "share of the fixes" : "share of the driving; standing \(standing) %"
        var speeds: Markup = ""
        speeds.add("<div class=\"scale\"><span>Speed, km/h, and \(share)</span><ol>")
        for (index, percentage) in map.scale.percentages(of: map.speeds).enumerated() {
            speeds.add(
                """
                <li><i class="k\(map.scale.color(of: index))"></i>\(map.scale.label(of: index))\
                <small>\(percentage) %</small></li>
                """)
        }
        speeds.add("</ol></div>")
        return speeds
    }
}
