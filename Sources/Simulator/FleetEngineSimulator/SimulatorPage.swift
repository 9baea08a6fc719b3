import TrackDrawing

/// The page at `/`: one document without any file from outside, which asks for `page.json` every second.
enum SimulatorPage {
    static let html = PageStyle.opening(title: "Fleet Engine simulator", style: style).text + body

    private static let style: Markup = """

        body { max-width: none; padding: 0; }
        header {
          display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 12px 20px;
          background: var(--card); border-bottom: 1px solid var(--line);
        }
        h1 { font-size: 17px; }
        h2 { font-size: 13px; margin: 0 0 10px; color: var(--dim); }
        .pill { padding: 2px 10px; border-radius: 999px; border: 1px solid currentColor; font-size: 13px; font-weight: 600; }
        .good { color: var(--good); } .bad { color: var(--jump); } .late { color: var(--warn); } .dim { color: var(--dim); }
        select {
          font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
          padding: 5px 8px; max-width: 100%; margin-left: auto;
        }
        main {
          display: grid; gap: 14px; padding: 14px 20px 24px; max-width: 1680px; margin: 0 auto;
          grid-template-columns: minmax(0, 1fr) 340px; align-items: start;
        }
        .column { display: grid; gap: 14px; min-width: 0; }
        section { margin: 0; min-width: 0; }
        dl { display: grid; grid-template-columns: minmax(84px, 1fr) auto; gap: 5px 14px; margin: 0; }
        dt { color: var(--dim); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; max-width: 210px; overflow-wrap: anywhere; }
        .big { display: flex; gap: 20px; margin-bottom: 12px; }
        .big div { flex: 1; min-width: 0; }
        .big b { display: block; font-size: 25px; line-height: 1.15; font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .big span { font-size: 13px; color: var(--dim); }
        .bar { display: grid; grid-template-columns: 72px 1fr 108px; gap: 10px; align-items: center; margin: 5px 0; font-variant-numeric: tabular-nums; }
        .meter { height: 8px; border-radius: 4px; background: var(--page); overflow: hidden; }
        .meter i { display: block; height: 100%; border-radius: 4px; background: var(--good); min-width: 2px; }
        .bar.bad i { background: var(--jump); } .bar.late i { background: var(--warn); } .bar.info i { background: var(--accent); }
        .bar > :first-child { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .bar > :last-child { text-align: right; }
        #tokens .bar { grid-template-columns: minmax(0, 1fr) 84px 112px; }
        #tokens:not(:empty), #traffic { margin-top: 10px; }
        ul { margin: 0; padding-left: 18px; } li { margin: 2px 0; }
        table { width: 100%; font-size: 13px; }
        td { padding: 4px 12px 4px 0; vertical-align: top; }
        tr:first-child td { border-top: 0; }
        td.message { width: 60%; max-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--dim); }
        @media (max-width: 900px) {
          main { grid-template-columns: minmax(0, 1fr); padding: 12px; gap: 12px; }
          .column { display: contents; }
          #log { order: 1; }
          header { padding: 10px 12px; } select { margin-left: 0; flex: 1 1 100%; }
          td.message { max-width: none; }
        }
        """

    private static let body = #"""

        <header>
          <h1>Fleet Engine simulator</h1>
          <span id="state" class="pill dim" role="status">connecting</span>
          <select id="vehicles" aria-label="Vehicle" hidden></select>
        </header>
        <main>
          <div class="column">
            <div id="map"><section>Waiting for the first position</section></div>
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
        let chosen = decodeURIComponent(location.hash.slice(1)) || null, view = null, drawn = null;

        function list(id, rows) {
          $(id).replaceChildren(...rows.flatMap(([name, value, kind]) => [element("dt", name), element("dd", value, kind)]));
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
          const row = element("div", undefined, "bar " + kind), meter = element("div", undefined, "meter"), fill = element("i");
          fill.style.width = 100 * Math.max(0, Math.min(1, share)) + "%";
          meter.append(fill);
          row.append(element("span", name), meter, element("span", value));
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
          // Drawn by the simulator, of numbers alone.
          const drawing = view.vehicle && view.vehicle.drawing;
          if (drawing && drawing !== drawn) $("map").innerHTML = drawn = drawing;

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
        poll();
        </script>
        </body>
        </html>
        """#
}
