/// The page at `/`: one document without any file from outside, which asks for `page.json` every second.
enum SimulatorPage {
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Fleet Engine simulator</title>
        <style>
        :root {
          color-scheme: light dark;
          --page: #f4f5f7; --card: #ffffff; --line: #dfe3e8; --text: #1b2129; --dim: #5c6673;
          --accent: #0b62d6; --late: #b25e00; --good: #14773f; --bad: #c02626; --map: #eef1f4; --grid: #dde2e8; --track: #0b62d6;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #101418; --card: #191f25; --line: #2c353e; --text: #e8ecf0; --dim: #9aa7b4;
            --accent: #6bb0ff; --late: #f0a24a; --good: #5fcf8e; --bad: #ff7b73; --map: #141a20; --grid: #232c34; --track: #6bb0ff;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0; background: var(--page); color: var(--text);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
        }
        header {
          display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 12px 20px;
          background: var(--card); border-bottom: 1px solid var(--line);
        }
        h1 { font-size: 17px; margin: 0; font-weight: 650; }
        h2 { font-size: 13px; margin: 0 0 10px; font-weight: 600; color: var(--dim); }
        .pill { padding: 2px 10px; border-radius: 999px; border: 1px solid currentColor; font-size: 13px; font-weight: 600; }
        .good { color: var(--good); } .bad { color: var(--bad); } .late { color: var(--late); } .dim { color: var(--dim); }
        select {
          font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
          padding: 5px 8px; max-width: 100%; margin-left: auto;
        }
        main {
          display: grid; gap: 14px; padding: 14px 20px 24px; max-width: 1680px; margin: 0 auto;
          grid-template-columns: minmax(0, 1fr) 340px; align-items: start;
        }
        .column { display: grid; gap: 14px; min-width: 0; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
        #map { padding: 0; overflow: hidden; position: relative; }
        #map svg { display: block; width: 100%; height: clamp(300px, 58vh, 760px); background: var(--map); }
        #hint { position: absolute; left: 14px; top: 10px; font-size: 13px; color: var(--dim); pointer-events: none; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 8px 16px; font-size: 13px; color: var(--dim); border-top: 1px solid var(--line); }
        .legend i { display: inline-block; width: 14px; height: 3px; vertical-align: middle; margin-right: 6px; border-radius: 2px; background: var(--track); }
        .legend i.dot { width: 8px; height: 8px; border-radius: 50%; background: var(--late); }
        .legend i.gap { background: repeating-linear-gradient(90deg, var(--dim) 0 4px, transparent 4px 7px); }
        dl { display: grid; grid-template-columns: minmax(84px, 1fr) auto; gap: 5px 14px; margin: 0; }
        dt { color: var(--dim); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; max-width: 210px; overflow-wrap: anywhere; }
        .big { display: flex; gap: 20px; margin-bottom: 12px; }
        .big div { flex: 1; min-width: 0; }
        .big b { display: block; font-size: 25px; line-height: 1.15; font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .big span { font-size: 13px; color: var(--dim); }
        .bar { display: grid; grid-template-columns: 72px 1fr 108px; gap: 10px; align-items: center; margin: 5px 0; font-variant-numeric: tabular-nums; }
        .track { height: 8px; border-radius: 4px; background: var(--page); overflow: hidden; }
        .track i { display: block; height: 100%; border-radius: 4px; background: var(--good); min-width: 2px; }
        .bar.bad .track i { background: var(--bad); } .bar.late .track i { background: var(--late); } .bar.info .track i { background: var(--accent); }
        .bar > :first-child { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .bar > :last-child { text-align: right; }
        #tokens .bar { grid-template-columns: minmax(0, 1fr) 84px 112px; }
        #tokens:not(:empty), #traffic { margin-top: 10px; }
        ul { margin: 0; padding-left: 18px; } li { margin: 2px 0; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
        td { padding: 4px 12px 4px 0; border-top: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
        tr:first-child td { border-top: 0; }
        td.message { width: 60%; max-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--dim); }
        text { font: 12px system-ui, sans-serif; fill: var(--dim); }
        @media (max-width: 900px) {
          main { grid-template-columns: minmax(0, 1fr); padding: 12px; gap: 12px; }
          .column { display: contents; }
          #log { order: 1; }
          header { padding: 10px 12px; } select { margin-left: 0; flex: 1 1 100%; }
          #map svg { height: 62vw; min-height: 260px; max-height: 60vh; }
          td.message { max-width: none; }
        }
        </style>
        </head>
        <body>
        <header>
          <h1>Fleet Engine simulator</h1>
          <span id="state" class="pill dim" role="status">connecting</span>
          <select id="vehicles" aria-label="Vehicle" hidden></select>
        </header>
        <main>
          <div class="column">
            <section id="map">
              <svg id="drawing" role="img" aria-label="The vehicle's track"></svg>
              <div id="hint"></div>
              <div class="legend">
                <span><i></i>track</span><span><i class="dot"></i>delivered later, as a past location</span>
                <span><i class="gap"></i>no fix for a minute or more</span>
              </div>
            </section>
            <section id="log"><h2>Latest requests</h2><div class="scroll"><table><tbody id="requests"></tbody></table></div></section>
          </div>
          <div class="column">
            <section><h2 id="name">No vehicle yet</h2><div class="big" id="figures"></div><dl id="vehicle"></dl></section>
            <section><h2>Answers of Fleet Engine</h2><div id="answers"></div><dl id="traffic"></dl></section>
            <section><h2>Tokens</h2><dl id="tokenCounts"></dl><div id="tokens"></div></section>
            <section><h2>Ordered faults</h2><div id="faults"></div></section>
          </div>
        </main>
        <script>
        "use strict";
        const $ = id => document.getElementById(id);
        const element = (name, text, kind) => {
          const made = document.createElement(name);
          if (text !== undefined) made.textContent = text;
          if (kind) made.className = kind;
          return made;
        };
        const shape = (name, attributes, text) => {
          const made = document.createElementNS("http://www.w3.org/2000/svg", name);
          for (const key in attributes) made.setAttribute(key, attributes[key]);
          if (text !== undefined) made.textContent = text;
          return made;
        };
        const number = value => value.toLocaleString("en-GB");
        const clock = ms => new Date(ms).toISOString().slice(11, 19);
        const span = seconds => {
          const s = Math.max(0, Math.round(seconds));
          if (s < 100) return s + " s";
          if (s < 600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
          if (s < 6000) return Math.round(s / 60) + " min";
          if (s < 360000) return (s / 3600).toFixed(1) + " h";
          return Math.round(s / 86400) + " days";
        };
        const bytes = count => count < 1e4 ? count + " B" : count < 1e7 ? (count / 1e3).toFixed(1) + " kB" : (count / 1e6).toFixed(1) + " MB";

        // A vehicle may be chosen by the address, as in /#providers/p/vehicles/van-7.
        let chosen = decodeURIComponent(location.hash.slice(1)) || null, view = null;

        function list(id, rows) {
          $(id).replaceChildren(...rows.flatMap(([name, value, kind]) => [element("dt", name), element("dd", value, kind)]));
        }

        function draw() {
          const svg = $("drawing"), track = view && view.vehicle ? view.vehicle.track : [];
          const width = svg.clientWidth, height = svg.clientHeight;
          svg.setAttribute("viewBox", "0 0 " + width + " " + height);
          if (!track.length || !width) {
            svg.replaceChildren(shape("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "Waiting for the first position"));
            return;
          }
          // Metres east and north of the middle; true enough for the area that a vehicle covers in a day.
          const rad = Math.PI / 180, latitudes = track.map(p => p[0]), longitudes = track.map(p => p[1]);
          const least = list => list.reduce((a, b) => Math.min(a, b)), most = list => list.reduce((a, b) => Math.max(a, b));
          const [south, north, west, east] = [least(latitudes), most(latitudes), least(longitudes), most(longitudes)];
          const middle = [(south + north) / 2, (west + east) / 2], perLongitude = 111320 * Math.max(Math.cos(middle[0] * rad), 0.01);
          const margin = Math.min(56, width * 0.1);
          const metres = Math.max((east - west) * perLongitude / (width - 2 * margin), (north - south) * 111132 / (height - 2 * margin - 16), 0.05);
          const place = p => [width / 2 + (p[1] - middle[1]) * perLongitude / metres, height / 2 - (p[0] - middle[0]) * 111132 / metres];

          let unit = Math.pow(10, Math.floor(Math.log10(metres * 150)));
          for (const factor of [5, 2]) if (unit * factor / metres <= 170) { unit *= factor; break; }
          const bar = unit / metres, parts = [];
          for (let x = width / 2 % bar; x < width; x += bar) parts.push(shape("path", { d: "M" + x + " 0V" + height, stroke: "var(--grid)" }));
          for (let y = height / 2 % bar; y < height; y += bar) parts.push(shape("path", { d: "M0 " + y + "H" + width, stroke: "var(--grid)" }));

          let line = "", gaps = "", before = null;
          const late = [];
          for (const point of track) {
            const [x, y] = place(point).map(v => v.toFixed(1));
            if (!before) line += "M" + x + " " + y;
            else if (point[3] - before[3] >= 60000) {
              gaps += "M" + place(before).map(v => v.toFixed(1)).join(" ") + "L" + x + " " + y;
              line += "M" + x + " " + y;
            } else line += "L" + x + " " + y;
            if (!point[4]) late.push(shape("circle", { cx: x, cy: y, r: 2.4, fill: "var(--late)" }));
            before = point;
          }
          const stroke = { fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" };
          parts.push(shape("path", { ...stroke, d: gaps, stroke: "var(--dim)", "stroke-width": 1.5, "stroke-dasharray": "4 4" }));
          parts.push(shape("path", { ...stroke, d: line, stroke: "var(--track)", "stroke-width": 3 }), ...late);

          const first = place(track[0]), latest = view.vehicle.latest;
          parts.push(shape("circle", { cx: first[0], cy: first[1], r: 4, fill: "var(--card)", stroke: "var(--track)", "stroke-width": 2 }));
          if (latest) {
            const [x, y] = place([latest.latitude, latest.longitude]);
            if (latest.accuracy / metres > 9)
              parts.push(shape("circle", { cx: x, cy: y, r: latest.accuracy / metres, fill: "var(--accent)", "fill-opacity": 0.15 }));
            parts.push(latest.heading === null
              ? shape("circle", { cx: x, cy: y, r: 7, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2 })
              : shape("path", { d: "M0 -12L8 9L0 4L-8 9Z", transform: "translate(" + x + " " + y + ") rotate(" + latest.heading + ")",
                  fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2, "stroke-linejoin": "round" }));
          }
          const left = 16, base = height - 16;
          parts.push(shape("path", { d: "M" + left + " " + (base - 6) + "V" + base + "H" + (left + bar) + "V" + (base - 6), fill: "none", stroke: "var(--text)", "stroke-width": 1.5 }));
          parts.push(shape("text", { x: left + bar / 2, y: base - 6, "text-anchor": "middle" }, unit >= 1000 ? unit / 1000 + " km" : unit + " m"));
          parts.push(shape("text", { x: width - 18, y: 24, "text-anchor": "middle" }, "N"), shape("path", { d: "M" + (width - 18) + " 30V48M" + (width - 22) + " 36L" + (width - 18) + " 30L" + (width - 14) + " 36", fill: "none", stroke: "var(--dim)", "stroke-width": 1.5 }));
          svg.replaceChildren(...parts);
          const end = track[track.length - 1];
          svg.setAttribute("aria-label", "Track of " + track.length + " positions from " + clock(track[0][3]) + " to " + clock(end[3]) + " UTC");
          $("hint").textContent = clock(track[0][3]) + " to " + clock(end[3]) + " UTC";
        }

        function showVehicle(vehicle) {
          $("name").textContent = vehicle ? vehicle.id + ", " + vehicle.service : "No vehicle yet";
          if (!vehicle) { $("figures").replaceChildren(); list("vehicle", [["Updates", "none so far"]]); return; }
          const latest = vehicle.latest || {};
          const figure = (value, words) => {
            const made = element("div");
            made.append(element("b", value), element("span", words));
            return made;
          };
          $("figures").replaceChildren(
            figure(latest.speed == null ? "–" : Math.round(latest.speed * 3.6) + " km/h", "speed"),
            figure(latest.time ? span((view.now - latest.time) / 1000) : "–", "age of the fix"));
          const rows = [
            ["Position", latest.latitude == null ? "–" : latest.latitude.toFixed(5) + ", " + latest.longitude.toFixed(5)],
            ["Heading", latest.heading == null ? "–" : latest.heading + "°"],
            ["Accuracy", latest.accuracy == null ? "–" : latest.accuracy + " m"],
            ["Updates", number(vehicle.updates)],
            ["Updates a minute", number(vehicle.updatesPerMinute)],
            ["Fixes delivered", number(vehicle.distinctFixes), "good"],
            ["As past locations", number(vehicle.pastLocations), vehicle.pastLocations ? "late" : ""],
            ["Delivered again", number(vehicle.repeatedFixes)],
          ];
          if (vehicle.vehicleState) rows.unshift(["State", vehicle.vehicleState]);
          if (vehicle.lastLocationsBackInTime) rows.push(["Last location back in time", number(vehicle.lastLocationsBackInTime), "bad"]);
          if (vehicle.pastLocationsOutOfOrder) rows.push(["Past locations out of order", number(vehicle.pastLocationsOutOfOrder), "bad"]);
          if (vehicle.untimedLocations) rows.push(["Without a time", number(vehicle.untimedLocations), "bad"]);
          list("vehicle", rows);
        }

        function meter(name, share, value, kind) {
          const row = element("div", undefined, "bar " + kind), track = element("div", undefined, "track"), fill = element("i");
          fill.style.width = 100 * Math.max(0, Math.min(1, share)) + "%";
          track.append(fill);
          row.append(element("span", name), track, element("span", value));
          return row;
        }

        function show() {
          const state = $("state"), running = span((view.now - view.startedAt) / 1000);
          state.textContent = view.outageSince ? "outage: connections are reset" : "answering for " + running;
          state.className = "pill " + (view.outageSince ? "bad" : "good");
          const select = $("vehicles"), name = view.vehicle ? view.vehicle.name : "";
          if (select.dataset.names !== view.names.join()) {
            select.dataset.names = view.names.join();
            select.replaceChildren(...view.names.map(each => new Option(each.replace(/^providers\//, ""), each)));
            select.hidden = view.names.length < 2;
          }
          if (document.activeElement !== select) select.value = name;
          showVehicle(view.vehicle);
          draw();

          const outcomes = Object.entries(view.fleetOutcomes).sort((a, b) => b[1] - a[1]), most = outcomes.length ? outcomes[0][1] : 1;
          $("answers").replaceChildren(...outcomes.length ? outcomes.map(([outcome, count]) =>
            meter(outcome, count / most, number(count) + " · " + (100 * count / view.fleetRequests).toFixed(1) + " %",
              outcome.startsWith("2") ? "" : outcome.startsWith("4") ? "late" : "bad")) : [element("span", "none so far", "dim")]);
          const failed = Object.entries(view.tokenOutcomes).filter(([outcome]) => outcome !== "200").map(([outcome, count]) => outcome + ": " + number(count));
          list("tokenCounts", [["Issued", number(view.tokensIssued)], ...failed.length ? [["Not issued", failed.join(", "), "bad"]] : []]);
          list("traffic", [["Received", bytes(view.bytesReceived)], ["Sent, bodies alone", bytes(view.bytesSent)]]);
          $("tokens").replaceChildren(...view.tokens.slice(0, 4).map(token => {
            const left = token.expiry - view.now / 1000;
            const row = meter(token.id || token.kind, left / Math.max(1, token.expiry - token.issuedAt), left > 0 ? span(left) + " left" : "expired",
              left > 300 ? "info" : left > 0 ? "late" : "bad");
            row.title = token.kind + " token" + (token.id ? " for " + token.id : "");
            return row;
          }));
          const faults = element("ul");
          faults.append(...view.faults.map(words => element("li", words)));
          $("faults").replaceChildren(view.faults.length ? faults : element("span", "none", "dim"));
          if (view.recordFailure) $("faults").append(element("p", view.recordFailure, "bad"));
          $("requests").replaceChildren(...view.requests.map(request => {
            const row = element("tr"), kind = request.outcome.startsWith("2") ? "good" : request.outcome.startsWith("4") ? "late" : "bad";
            row.append(element("td", clock(request.at)), element("td", request.outcome, kind), element("td", request.method),
              element("td", request.path.replace(/^\/v1\/providers\/[^/]+\//, "… /")), element("td", bytes(request.bytes), "dim"),
              element("td", request.message || "", "message"));
            row.title = request.message || "";
            return row;
          }));
        }

        async function poll() {
          try {
            const answer = await fetch("page.json" + (chosen ? "?vehicle=" + encodeURIComponent(chosen) : ""), { cache: "no-store" });
            view = await answer.json();
            show();
          } catch (problem) {
            $("state").textContent = "the simulator does not answer";
            $("state").className = "pill bad";
          }
          setTimeout(poll, 1000);
        }
        $("vehicles").addEventListener("change", event => { location.hash = encodeURIComponent(chosen = event.target.value); });
        addEventListener("resize", draw);
        poll();
        </script>
        </body>
        </html>
        """#
}
