import TrackDrawing

/// The page at `/`: a single document that loads no other file. Its script requests `page.json` every second.
enum SimulatorPage {
    static let html =
        PageStyle.opening(title: "Fleet Engine simulator", style: "\(LivePage.style)\(style)").text + body
        + LivePage.script.text + script

    private static let style: Markup = """

        select {
          font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
          padding: 5px 8px; max-width: min(100%, 340px); margin-left: auto;
        }
        .big { display: flex; gap: 20px; margin-bottom: 12px; }
        .big div { flex: 1; min-width: 0; }
        .big b { display: block; font-size: 24px; line-height: 1.15; font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .big span { font-size: 13px; color: var(--dim); }
        .bar { display: grid; grid-template-columns: 64px 1fr max-content; gap: 10px; align-items: center; margin: 5px 0; font-variant-numeric: tabular-nums; }
        .meter { height: 8px; border-radius: 4px; background: var(--page); overflow: hidden; }
        .meter i { display: block; height: 100%; border-radius: 4px; background: var(--good); min-width: 2px; }
        .bar.bad i { background: var(--jump); } .bar.late i { background: var(--warn); } .info i { background: var(--accent); }
        .bar > :first-child { font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .bar > :last-child { text-align: right; min-width: 108px; }
        #tokens .bar { grid-template-columns: minmax(0, 1fr) 84px 112px; }
        #tokens:not(:empty), #traffic { margin-top: 10px; }
        td.message { width: 60%; max-width: 0; overflow: hidden; text-overflow: ellipsis; color: var(--dim); }
        .vehicle:has(title) { cursor: pointer; }
        pre {
          margin: 6px 0 16px; padding: 10px 12px; border-radius: 6px; border: 1px solid var(--line); background: var(--page);
          font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all;
        }
        #begin h2 { font-size: 17px; color: var(--text); } #begin p { margin: 0 0 4px; max-width: 75ch; }
        code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; }
        .trip + .trip { margin-top: 14px; padding-top: 12px; border-top: 1px solid var(--line); }
        .trip p { margin: 6px 0 0; font-variant-numeric: tabular-nums; } .trip b { overflow-wrap: anywhere; }
        .trip small { display: block; margin-left: 25%; color: var(--dim); }
        .trip .meter { margin-top: 8px; position: relative; } .trip .meter u { position: absolute; left: 25%; top: 0; width: 2px; height: 100%; background: var(--text); }
        .fleet { list-style: none; padding: 0; font-variant-numeric: tabular-nums; }
        .fleet li { display: grid; grid-template-columns: minmax(90px, 150px) 74px 100px 100px minmax(0, 1fr); gap: 4px 12px; align-items: center; margin: 0; padding: 3px 0; border-top: 1px solid var(--line); }
        .fleet li:first-child { border-top: 0; }
        .fleet li > span { text-align: right; white-space: nowrap; font-size: 13px; }
        .fleet button { font: inherit; font-weight: 600; color: var(--accent); background: none; border: 0; padding: 2px 0; text-align: left; cursor: pointer; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .fleet .chosen button { color: var(--text); text-decoration: underline; text-underline-offset: 3px; }
        .strip { height: 26px; }
        .solo .strip { height: 60px; }
        .axis { display: flex; justify-content: space-between; margin: 2px 0 0 472px; font-size: 13px; color: var(--dim); }
        @media (max-width: 1100px) and (min-width: 901px), (max-width: 620px) {
          .fleet { display: grid; grid-template-columns: minmax(0, 1fr) repeat(3, max-content); gap: 0 12px; }
          .fleet li { grid-column: 1 / -1; grid-template-columns: subgrid; } .strip { grid-column: 1 / -1; }
          .axis { margin: 2px 0 0; }
        }
        @media (max-width: 900px) {
          #trip { order: 1; } #one { order: 2; } #arrivals { order: 3; } .other { order: 4; } #log { order: 5; }
          select { margin-left: 0; max-width: 100%; flex: 1 1 100%; }
          td.message { max-width: none; }
        }
        @media (max-width: 620px) {
          #requests tr { display: flex; flex-wrap: wrap; gap: 0 12px; } #requests td { display: block; text-align: left; }
          #requests td.message { width: auto; flex-basis: 100%; } #requests td:first-child { font-weight: 400; }
        }
        """

    private static let body = #"""

        <header>
          <h1>Fleet Engine simulator</h1>
          <span id="state" class="pill dim" role="status">connecting</span>
          <span id="next" class="dim"></span>
          <select id="vehicles" aria-label="Vehicle" hidden></select>
        </header>
        <noscript><p class="warnings">This page needs JavaScript. <a href="record.json">record.json</a> has the same data.</p></noscript>
        <main>
          <div class="column">
            <section id="begin" hidden>
              <h2>Nothing has arrived yet</h2>
              <p>This is a simulated Fleet Engine with a token issuer. Positions that vehicles report appear here. To begin, write a configuration:</p>
              <pre id="configuration"></pre>
              <p>Then replay a receiver's log, or run with a receiver (<code>waypost help run</code>):</p>
              <pre id="replay"></pre>
              <p>Or report one position by hand:</p>
              <pre id="curl"></pre>
            </section>
            <div id="map"></div>
            <section id="arrivals" hidden>
              <h2>Arrivals</h2>
              <ul class="fleet" id="fleet"></ul>
              <div class="axis" aria-hidden="true"><span id="from"></span><span>now</span></div>
              <p class="key"><span><i class="live"></i>as last location</span><span><i class="waited"></i>as past location: a shape point, or delivered later</span><span id="outage"><i class="outage"></i>outage</span><span id="tallest"></span></p>
              <p class="key" id="more"></p>
            </section>
            <section id="log"><h2>Latest requests, UTC</h2><div class="scroll"><table><tbody id="requests"></tbody></table></div></section>
          </div>
          <div class="column">
            <section id="trip" hidden><h2>Trips</h2><div id="trips"></div></section>
            <section id="one" hidden><h2 id="name"></h2><div class="big" id="figures"></div><dl id="vehicle"></dl></section>
            <section class="other"><h2>Fleet Engine's answers</h2><div id="answers"></div><dl id="traffic"></dl></section>
            <section class="other"><h2>Tokens</h2><dl id="tokenCounts"></dl><div id="tokens"></div></section>
            <section class="other"><h2>Configured faults</h2><div id="faults"></div></section>
          </div>
        </main>
        <script>

        """#

    private static let script = #"""

        // The address may choose a vehicle, such as /#providers/p/vehicles/van-7.
        const fromAddress = () => { try { return decodeURIComponent(location.hash.slice(1)) || null; } catch { return null; } };
        let chosen = fromAddress(), view = null, drawn = null;
        const rows = new Map();

        function showFigures(pairs) {
          $("figures").replaceChildren(...pairs.map(([value, words]) => {
            const made = element("div");
            made.append(element("b", value), element("span", words));
            return made;
          }));
        }

        function showVehicle(vehicle) {
          if (!vehicle) {
            $("one").hidden = !view.vehicles;
            $("name").textContent = "All vehicles";
            showFigures([[number(view.vehicles), "vehicles"], [number(view.distinctFixes), "fixes delivered"]]);
            list("vehicle", [["Updates", number(view.updates)], ["Delivered again", number(view.repeatedFixes)]]);
            return;
          }
          $("one").hidden = false;
          $("name").textContent = vehicle.id + ", " + vehicle.service;
          const latest = vehicle.latest || {};
          showFigures([[rate(latest.speed), "speed"], [latest.time ? span((view.now - latest.time) / 1000) : "–", "age of the fix"]]);
          let place = "–";
          if (latest.latitude != null) {
            place = placeLink(latest);
          }
          const rows = [
            ["Position", place],
            ["Heading", latest.heading == null ? "–" : latest.heading + "°"],
            ["Accuracy", latest.accuracy == null ? "–" : latest.accuracy.toFixed(1) + " m"],
            ["Updates", number(vehicle.updates)],
            ["Updates per minute", number(vehicle.updatesPerMinute)],
            ["Fixes delivered", number(vehicle.distinctFixes), "good"],
            ["As past locations", number(vehicle.pastLocations)],
            ["Delivered again", number(vehicle.repeatedFixes)],
          ];
          if (vehicle.vehicleState) rows.unshift(["State", vehicle.vehicleState]);
          if (vehicle.lastLocationsBackInTime) rows.push(["Last location back in time", number(vehicle.lastLocationsBackInTime), "bad"]);
          if (vehicle.pastLocationsOutOfOrder) rows.push(["Past locations out of order", number(vehicle.pastLocationsOutOfOrder), "bad"]);
          if (vehicle.untimedLocations) rows.push(["Without a time", number(vehicle.untimedLocations), "bad"]);
          list("vehicle", rows);
        }

        const choose = name => { location.hash = encodeURIComponent(name || ""); };

        function makeRow(vehicle) {
          const row = element("li"), button = element("button", vehicle.id), strip = shape("svg", { class: "strip", viewBox: "0 0 60 30", preserveAspectRatio: "none", role: "img" });
          button.type = "button";
          button.title = vehicle.name;
          button.addEventListener("click", () => choose(chosen === vehicle.name ? "" : vehicle.name));
          strip.append(...["outage", "live", "waited"].map(kind => shape("path", { class: kind })));
          row.append(button, element("span"), element("span"), element("span"), strip);
          return row;
        }

        function showFleet() {
          const { window: time, fleet } = view, length = time.end - time.start;
          const tallest = Math.max(0, ...fleet.flatMap(vehicle => vehicle.bars.map(([live, late]) => live + late)));
          const x = ms => (60 * (ms - time.start) / length).toFixed(2);
          const outages = time.outages.map(([from, to]) => `M${x(from)} 0V30H${x(to)}V0z`).join("");
          for (const vehicle of fleet) {
            if (!rows.has(vehicle.name)) rows.set(vehicle.name, makeRow(vehicle));
            const row = rows.get(vehicle.name), [, speed, age, fixes, strip] = row.children, [outage, live, waited] = strip.children;
            row.className = view.vehicle && view.vehicle.name === vehicle.name && fleet.length > 1 ? "chosen" : "";
            row.firstChild.setAttribute("aria-pressed", row.className === "chosen");
            speed.textContent = rate(vehicle.speed);
            age.textContent = vehicle.time ? span((view.now - vehicle.time) / 1000) + " ago" : "–";
            fixes.textContent = counted(vehicle.fixes, "fix", "fixes");
            let onTime = "", late = "", sum = [0, 0];
            vehicle.bars.forEach(([live, past], index) => {
              const whole = height(live + past, tallest, 28), upper = live + past ? whole * past / (live + past) : 0;
              if (live) onTime += `M${index + .1} 30v${-(whole - upper)}h.8V30z`;
              if (past) late += `M${index + .1} ${30 - whole + upper}v${-upper}h.8v${upper}z`;
              sum = [sum[0] + live, sum[1] + past];
            });
            outage.setAttribute("d", outages);
            live.setAttribute("d", onTime);
            waited.setAttribute("d", late);
            strip.setAttribute("aria-label", `Arrivals of the last ${span(length / 1000)}: ${counted(sum[0], "fix", "fixes")} as last location, ${number(sum[1])} later`);
          }
          const list = $("fleet"), order = fleet.map(vehicle => rows.get(vehicle.name));
          if (order.length !== list.children.length || order.some((row, index) => row !== list.children[index])) list.replaceChildren(...order);
          list.classList.toggle("solo", fleet.length === 1);
          $("arrivals").hidden = !fleet.length;
          $("from").textContent = span(length / 1000) + " ago";
          $("tallest").textContent = `a bar is ${time.barSeconds} s, the tallest ${counted(tallest, "fix", "fixes")}; logarithmic heights`;
          $("outage").hidden = !time.outages.length;
          const hidden = view.vehicles - fleet.length;
          $("more").textContent = hidden ? `${counted(hidden, "more vehicle is", "more vehicles are")} not shown here; choose one above.` : "";
        }

        function showTrips() {
          $("trip").hidden = !view.trips.length;
          $("trips").replaceChildren(...view.trips.map(trip => {
            const made = element("div", undefined, "trip"), meter = element("div", undefined, "meter info"), fill = element("i");
            fill.style.width = 100 * Math.min(1, trip.driven / trip.length) + "%";
            meter.append(fill, element("u"));
            const words = trip.destination
              ? `${meters(trip.remaining)} left to the ${trip.destination}` + (trip.status === "NEW" ? "; the vehicle has not reported yet" : `, there about ${clock(trip.arrival)} UTC`)
              : `all ${meters(trip.length)} driven, at the drop-off`;
            made.append(element("b", trip.id), ` with ${trip.vehicle} `, meter, element("small", "pickup"),
              element("p", words), element("p", trip.status, trip.status === "COMPLETE" ? "good" : "dim"));
            return made;
          }));
        }

        function meter(name, share, value, kind) {
          const row = element("div", undefined, "bar " + kind), meter = element("div", undefined, "meter"), fill = element("i");
          fill.style.width = 100 * Math.max(0, Math.min(1, share)) + "%";
          meter.append(fill);
          row.append(element("span", name), meter, element("span", value));
          return row;
        }

        function showState() {
          const { outage, nextOutage, now } = view, notes = [];
          if (outage) {
            setState(`outage until ${outage.until ? clock(outage.until) + " UTC" : "it is ended"}: connections are reset`, "bad");
            notes.push("since " + clock(outage.since));
            if (outage.until) notes.push(span((outage.until - now) / 1000) + " left");
          } else {
            setState("answering", "good");
            notes.push("for " + span((now - view.answeringSince) / 1000));
          }
          if (nextOutage) notes.push(`next outage in ${span((nextOutage[0] - now) / 1000)}, until ${clock(nextOutage[1])} UTC`);
          $("next").textContent = notes.join("; ");
        }

        function showBeginning() {
          const { example } = view;
          $("begin").hidden = !example;
          $("map").hidden = !!example;
          if (!example || $("configuration").textContent) return;
          const origin = location.origin;
          $("configuration").textContent = `cat > try.json <<END
        {
          "vehicle": { "providerId": "${example.provider}", "vehicleId": "${example.vehicle}" },
          "receiver": { "type": "stdin" },
          "authorization": { "type": "http", "url": "${origin}/token/driver/{vehicleId}" },
          "upload": { "endpoint": "${origin}" },
          "outbox": { "path": "$PWD/waypost-try/outbox.sqlite" }
        }
        END`;
          $("replay").textContent = "waypost replay LOG --config try.json --speed 10";
          $("curl").textContent = `TOKEN=$(curl -s ${origin}/token/driver/${example.vehicle} | grep -o 'eyJ[^"]*')
        curl -X PUT "${origin}/v1/providers/${example.provider}/vehicles/${example.vehicle}?updateMask=lastLocation" \\
          -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
          -d '{"lastLocation": {"location": {"latitude": 53.55, "longitude": 10},
               "updateTime": "'$(date -u +%FT%TZ)'", "speed": 12, "heading": 90}}'`;
        }

        function showFaults() {
          const faults = element("ul");
          faults.append(...view.faults.map(words => element("li", words)), ...view.outages.map(([from, until]) => {
            const { now } = view, when = now < from ? `in ${span((from - now) / 1000)}` : now <= until ? `${span((until - now) / 1000)} left` : "over";
            return element("li", `outage ${clock(from)} to ${clock(until)} UTC, ${when}`, when === "over" ? "dim" : "");
          }));
          $("faults").replaceChildren(faults.children.length ? faults : element("span", "none", "dim"));
          if (view.recordFailure) $("faults").append(element("p", view.recordFailure, "bad"));
        }

        function show() {
          showState();
          const select = $("vehicles"), name = view.vehicle ? view.vehicle.name : "";
          if (select.dataset.names !== view.names.join()) {
            select.dataset.names = view.names.join();
            select.replaceChildren(new Option("All vehicles", ""), ...view.names.map(each => new Option(each.replace(/^providers\//, ""), each)));
            select.hidden = view.names.length < 2;
          }
          if (document.activeElement !== select) select.value = name;
          showVehicle(view.vehicle);
          showBeginning();
          showFleet();
          showTrips();
          // The simulator draws the map and escapes the names of vehicles.
          const drawing = view.drawing || "<section>No position with a time so far.</section>";
          if (drawing !== drawn) $("map").innerHTML = drawn = drawing;

          const outcomes = Object.entries(view.fleetOutcomes).sort((a, b) => b[1] - a[1]), most = outcomes.length ? outcomes[0][1] : 1;
          $("answers").replaceChildren(...outcomes.length ? outcomes.map(([outcome, count]) =>
            meter(outcome, count / most, number(count) + " · " + (100 * count / view.fleetRequests).toFixed(1) + " %",
              outcome.startsWith("2") ? "" : outcome.startsWith("4") ? "late" : "bad")) : [element("span", "none so far", "dim")]);
          const failed = Object.entries(view.tokenOutcomes).filter(([outcome]) => outcome !== "200").map(([outcome, count]) => outcome + ": " + number(count));
          list("tokenCounts", [["Issued" + (view.tokens.length > 4 ? "; the latest four:" : ""), number(view.tokensIssued)], ...failed.length ? [["Not issued", failed.join(", "), "bad"]] : []]);
          list("traffic", [["Received", bytes(view.bytesReceived)], ["Sent, bodies only", bytes(view.bytesSent)]]);
          $("tokens").replaceChildren(...view.tokens.slice(0, 4).map(token => {
            const left = token.expiry - view.now / 1000;
            const row = meter(token.id || token.kind, left / Math.max(1, token.expiry - token.issuedAt), left > 0 ? span(left) + " left" : "expired",
              left > 300 ? "info" : left > 0 ? "late" : "bad");
            row.title = token.kind + " token" + (token.id ? " for " + token.id : "");
            return row;
          }));
          showFaults();
          $("log").hidden = !view.requests.length;
          $("requests").replaceChildren(...view.requests.map(request => {
            const row = element("tr"), kind = request.outcome.startsWith("2") ? "good" : request.outcome.startsWith("4") ? "late" : "bad";
            row.append(element("td", clock(request.at)), element("td", request.outcome, kind), element("td", request.method),
              element("td", request.path.replace(/^\/v1\/providers\/[^/]+\//, "… /")), element("td", bytes(request.bytes), "dim"),
              element("td", request.message || "", "message"));
            row.title = request.message || "";
            return row;
          }));
        }

        async function refresh() {
          try {
            const answer = await fetch("page.json" + (chosen ? "?vehicle=" + encodeURIComponent(chosen) : ""), { cache: "no-store" });
            view = await answer.json();
          } catch (problem) {
            setState("no answer from the simulator" + (view ? " since " + clock(view.now) + " UTC" : ""), "bad");
            $("next").textContent = "";
            document.body.classList.add("stale");
            return;
          }
          document.body.classList.remove("stale");
          show();
        }
        $("vehicles").addEventListener("change", event => choose(event.target.value));
        $("map").addEventListener("pointerdown", event => {
          const title = event.target.closest(".vehicle")?.querySelector("title");
          const found = title && view.fleet.find(vehicle => vehicle.id === title.textContent);
          if (found) choose(found.name);
        });
        addEventListener("hashchange", () => { chosen = fromAddress(); refresh(); });
        poll(refresh, 1000);
        </script>
        </body>
        </html>
        """#
}
