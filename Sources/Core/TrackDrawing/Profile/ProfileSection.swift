import GNSS
import TimeAndRandomness

/// The section of a page that shows speed and altitude over time.
extension TrackMap {
    /// The minimum distance, in pixels of the wide chart, between two samples that the script can highlight. Because of
    /// this distance, the number of samples doesn't grow with the track.
    private static let sampleDistance = 2.0

    /// The chart in both sizes, with a note and the data that the script `pointing` needs. `nil` if no fix has a speed
    /// or altitude, or if there is only one fix.
    package var profileSection: Markup? {
        guard !profile.samples.isEmpty else { return nil }
        let stops = summary.stops.found.longest
        let charts = DrawingSize.allCases.map {
            ProfileDrawing(profile: profile, stops: stops, shortStops: shortStops, size: $0)
        }
        let samples = chartSamples
        let drawings = charts.compactMap { chart in
            let axis = chart.axis
            return chart.svg(sampleOffsets: samples.map { axis.x(of: $0.sample.from, in: axis.runs[$0.run]) })
        }
        guard !drawings.isEmpty else { return nil }
        let data = samples.map { self.scriptData(of: $0.sample) }.joined(separator: ",")
        var section: Markup = """
            <section class="drawing" id="profile" data-track="[\(data)]">
            <div class="place" hidden><input type="range" min="0" max="\(samples.count - 1)" value="0" \
            aria-label="Place on the track">
            <p><output>Point at the chart or the track, or move this slider.</output> <a rel="noreferrer"></a></p></div>

            """
        for drawing in drawings { section += drawing }
        section += "<p class=\"note\">Times are UTC."
        if !stops.isEmpty || !shortStops.isEmpty {
            section += " Yellow bands: stops; stops of a minute or more are numbered."
        }
        if profile.runs.count > 1 { section += " Grey bands: no fix; long bands are shortened." }
        section.add("</p>\n</section>")
        return section
    }

    /// The samples that the script can highlight, each with the index of its run.
    var chartSamples: [(sample: TrackProfile.Sample, run: Int)] {
        let axis = ProfileDrawing(profile: profile, stops: [], shortStops: [], size: .wide).axis
        var chosen: [(sample: TrackProfile.Sample, run: Int)] = []
        var latest = -Double.infinity
        for (number, run) in profile.runs.enumerated() {
            for sample in run {
                let place = axis.x(of: sample.from, in: axis.runs[number])
                guard place - latest >= Self.sampleDistance else { continue }
                latest = place
                chosen.append((sample, number))
            }
        }
        return chosen
    }

    /// Returns the data of a sample for the script, as a JSON array. It begins with the milliseconds since 1970, the
    /// metres east and north, and the latitude and longitude in degrees. The minimum and maximum speed in km/h and the
    /// altitude in metres follow.
    private func scriptData(of sample: TrackProfile.Sample) -> String {
        func jsonNumber(_ value: Double?) -> String { value.map { FigureText.decimal($0, places: 0) } ?? "null" }
        let meters = point(latitude: sample.latitude, longitude: sample.longitude)
        let fields = [
            "\(sample.from.millisecondsSince1970)", Markup.number(meters.x), Markup.number(meters.y),
            FigureText.decimal(sample.latitude, places: 5), FigureText.decimal(sample.longitude, places: 5),
            jsonNumber(sample.speed.map { $0.low * 3.6 }), jsonNumber(sample.speed.map { $0.high * 3.6 }),
            jsonNumber(sample.altitude?.high),
        ]
        return "[\(fields.joined(separator: ","))]"
    }

    /// The script that highlights the same moment on the charts and the maps, when the user points at one of them.
    /// Everything else on the page works without the script.
    package static let pointing: Markup = """
        <script>
        "use strict";
        const profile = document.getElementById("profile"), track = JSON.parse(profile.dataset.track);
        const maps = [...document.querySelectorAll("svg.map")], charts = [...profile.querySelectorAll("svg.profile")];
        const slider = profile.querySelector("input"), words = profile.querySelector("output"), link = profile.querySelector("a");
        const views = new Map(maps.map(map => [map, JSON.parse(map.dataset.view)]));
        const places = new Map(charts.map(chart => [chart, JSON.parse(chart.dataset.x)]));
        const day = time => new Date(time).toISOString().slice(0, 10);

        const pixel = (map, sample) => {
          const [scale, x, y] = views.get(map);
          return [x + sample[1] * scale, y - sample[2] * scale];
        };
        function show(index) {
          const sample = track[index], [time, , , latitude, longitude, low, high, altitude] = sample;
          for (const map of maps) {
            const mark = map.querySelector(".pointer"), [x, y] = pixel(map, sample);
            mark.setAttribute("transform", `translate(${x} ${y})`);
            mark.classList.add("on");
          }
          for (const chart of charts) {
            const mark = chart.querySelector(".pointer");
            mark.setAttribute("transform", `translate(${places.get(chart)[index]} 0)`);
            mark.classList.add("on");
          }
          const parts = [(day(time) === day(track[0][0]) ? "" : day(time) + " ") + new Date(time).toISOString().slice(11, 19) + " UTC"];
          if (high !== null) parts.push((high - low > 1 ? low + "–" + high : high) + " km/h");
          if (altitude !== null) parts.push(altitude + " m");
          words.textContent = parts.join(", ");
          words.className = "on";
          const degrees = (value, positive, negative) => Math.abs(value).toFixed(5) + "° " + (value < 0 ? negative : positive);
          link.textContent = degrees(latitude, "N", "S") + ", " + degrees(longitude, "E", "W");
          link.href = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
          slider.value = index;
          slider.setAttribute("aria-valuetext", words.textContent);
        }

        const nearest = distance => track.reduce((best, sample, index) => {
          const away = distance(sample, index);
          return away < best.away ? { index, away } : best;
        }, { index: 0, away: Infinity });
        const inside = (drawing, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
        const listen = (drawing, point) => ["pointerdown", "pointermove"].forEach(kind => drawing.addEventListener(kind, point));
        for (const chart of charts) listen(chart, event => {
          const { x } = inside(chart, event);
          show(nearest((_, index) => Math.abs(places.get(chart)[index] - x)).index);
        });
        for (const map of maps) listen(map, event => {
          const point = inside(map, event);
          const found = nearest(sample => {
            const [x, y] = pixel(map, sample);
            return Math.hypot(x - point.x, y - point.y);
          });
          if (found.away < 40) show(found.index);
        });
        slider.addEventListener("input", () => show(Number(slider.value)));
        profile.querySelector(".place").hidden = false;
        </script>
        """
}
