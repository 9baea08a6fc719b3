import GNSS

/// What the colours and marks of the map mean.
struct PageLegend {
    let scale: SpeedScale
    let paths: TrackPaths
    let summary: TrackSummary

    var markup: String {
        var markup = Markup()
        markup.add("<div class=\"legend\">")
        let isStated = paths.data.dropLast().contains { !$0.isEmpty }
        if isStated {
            markup.add("<div class=\"scale\"><span>Speed, km/h</span><ol>")
            for index in 0..<scale.count {
                markup.add("<li><i class=\"k\(scale.color(of: index))\"></i>\(scale.label(of: index))</li>")
            }
            markup.add("</ol></div>")
        }
        markup.add("<ul>")
        if paths.data.last?.isEmpty == false {
            markup.add("<li><i class=\"line k\(SpeedScale.palette)\"></i>speed not stated</li>")
        }
        markup.add("<li><i class=\"dot start\"></i>start</li><li><i class=\"dot end\"></i>end</li>")
        if summary.stops.found.count > 0 { markup.add("<li><i class=\"dot stop\">1</i>stop of a minute or more</li>") }
        let track = summary.statistics
        if track.gapCount > 0 { markup.add("<li><i class=\"line gap\"></i>no fix</li>") }
        if track.jumpCount > 0 { markup.add("<li><i class=\"line jump\"></i>jump: too far for the time</li>") }
        if track.backwardSteps > 0 { markup.add("<li><i class=\"dot back\"></i>time goes back</li>") }
        markup.add("</ul></div>")
        return markup.text
    }
}
