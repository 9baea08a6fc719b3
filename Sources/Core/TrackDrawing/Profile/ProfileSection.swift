import GNSS
import TimeAndChance

/// A moment that chart and map can both point at.
struct TrackSample: Sendable, Hashable {
    let time: UTCTime
    /// The run of the profile that it belongs to.
    let run: Int
    let slot: TrackProfile.Slot

    /// Pixels of the wide chart between two samples.
    private static let distance = 2.0

    /// A sample for every two pixels of the chart at which there is a fix: their number does not grow with the track.
    static func samples(of profile: TrackProfile) -> [Self] {
        guard !profile.runs.isEmpty else { return [] }
        let axis = ProfileDrawing.axis(of: profile, .wide)
        var samples: [Self] = []
        var taken = -Double.infinity
        for (number, run) in profile.runs.enumerated() {
            for slot in run.slots {
                let start = UTCTime(millisecondsSince1970: slot.number * profile.slotMilliseconds)
                let time = min(run.to, max(run.from, start))
                let place = axis.x(of: time, in: axis.stretches[number])
                guard place - taken >= distance else { continue }
                taken = place
                samples.append(Self(time: time, run: number, slot: slot))
            }
        }
        return samples
    }

    /// For the page's script: time in milliseconds, pixel of the map's frame, degrees, speed from and to in km/h,
    /// altitude in metres.
    func data(in frame: MapFrame) -> String {
        func number(_ value: Double?) -> String { value.map { FigureText.decimal($0, 0) } ?? "null" }
        let pixel = frame.pixel(latitude: slot.latitude, longitude: slot.longitude)
        let fields = [
            "\(time.millisecondsSince1970)", Markup.number(pixel.x), Markup.number(pixel.y),
            FigureText.decimal(slot.latitude, 5), FigureText.decimal(slot.longitude, 5),
            number(slot.speed.map { $0.low * 3.6 }), number(slot.speed.map { $0.high * 3.6 }),
            number(slot.altitude?.high),
        ]
        return "[\(fields.joined(separator: ","))]"
    }
}

extension TrackMap {
    /// The drawings of speed and altitude over time, with a note of what they show, and what the script of `pointing`
    /// needs; `nil` when no fix states either.
    package var profileSection: Markup? {
        let stops = summary.stops.found.longest
        let samples = TrackSample.samples(of: profile)
        let drawings = PageLayout.allCases.compactMap {
            ProfileDrawing(profile: profile, stops: stops, shortStops: shortStops, samples: samples, layout: $0).svg
        }
        guard !drawings.isEmpty else { return nil }
        let data = samples.map { $0.data(in: frame) }.joined(separator: ",")
        var section: Markup = """
            <section class="drawing" id="profile" data-track="[\(data)]">
            <div class="place" hidden><input type="range" min="0" max="\(samples.count - 1)" value="0" \
            aria-label="Place on the track">
            <p><output>Point at the chart or the track, or move this slider.</output> <a rel="noreferrer"></a></p></div>

            """
        for drawing in drawings { section += drawing }
        section += "<p class=\"note\">Times are UTC."
        if !stops.isEmpty {
            section += " Yellow bands: stops, those of a minute or more with their numbers."
        } else if !shortStops.isEmpty {
            section += " Yellow bands: short stops."
        }
        if profile.runs.count > 1 { section += " Grey bands: no fix; long ones are cut short." }
        section.add("</p>\n</section>")
        return section
    }

    /// Lets the chart point at the track and the track at the chart; the page says everything else without it.
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
          return [sample[1] * scale + x, sample[2] * scale + y];
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
