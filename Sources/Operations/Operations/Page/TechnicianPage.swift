import TrackDrawing

/// The page at `/` of the status address, for a technician at the vehicle. It is a single document that loads no other
/// file. Its script requests `page.json` every two seconds, and the map every ten.
enum TechnicianPage {
    /// Returns the page's content security policy. It allows only the page's own style and script, and requests to the
    /// page's own address.
    static func contentSecurityPolicy(nonce: String) -> String {
        "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    static func html(nonce: String) -> String {
        let opening = PageStyle.opening(title: "Waypost", style: "\(LivePage.style)\(style)", nonce: nonce)
        let end: Markup = "<script nonce=\"\(nonce)\">\n\(LivePage.script)\(script)\n</script>\n</body>\n</html>\n"
        return opening.text + body.text + end.text
    }

    private static let style: Markup = """

        main { max-width: 1280px; }
        #verdict { grid-column: 1 / -1; border-left: 6px solid var(--dim); }
        #verdict h2 { font-size: 22px; line-height: 1.2; color: var(--text); margin: 0 0 4px; }
        #verdict p { margin: 0; max-width: 90ch; font-size: 16px; overflow-wrap: anywhere; } #verdict p.title { margin-top: 10px; }
        #verdict p.title { font-weight: 600; } #verdict p.safety { color: var(--dim); }
        #verdict.trouble { border-color: var(--jump); } #verdict.trouble h2 { color: var(--jump); }
        #verdict.catchingUp { border-color: var(--accent); } #verdict.catchingUp h2 { color: var(--accent); }
        #verdict.well { border-color: var(--good); } #verdict.well h2 { color: var(--good); }
        .figures { grid-column: 1 / -1; margin: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); }
        .figures dd { text-align: left; max-width: none; } .figures .bad, .figures .late { color: inherit; }
        .figures dd.bad { color: var(--jump); } .figures dd.late { color: var(--warn); }
        .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; align-items: start; }
        svg.map { max-height: 440px; }
        .strip { width: 100%; height: 72px; } #queue { height: 44px; margin-top: 3px; }
        .strip path { vector-effect: non-scaling-stroke; } .strip .failed, .key .failed { fill: var(--jump); background: var(--jump); }
        .strip .line { fill: none; stroke: var(--text); stroke-width: 1.5; } .key .line { background: var(--text); height: 2px; vertical-align: middle; }
        .strip .base { stroke: var(--line); fill: none; }
        .axis { display: flex; justify-content: space-between; margin: 2px 0 0; font-size: 13px; color: var(--dim); }
        .system + .system { margin-top: 12px; }
        .system p { margin: 0 0 4px; display: flex; justify-content: space-between; }
        .bars { display: flex; flex-wrap: wrap; gap: 3px; align-items: end; }
        .bars div { width: 23px; text-align: center; font-size: 11px; line-height: 1.25; color: var(--dim); font-variant-numeric: tabular-nums; }
        .bars i { display: block; border-radius: 2px 2px 0 0; border: 1.5px solid var(--dim); border-bottom-width: 2px; min-height: 2px; }
        .bars .used i { background: var(--good); border-color: var(--good); }
        #commands dl { display: block; } #commands dd { max-width: none; margin: 0 0 6px; text-align: left; } #commands code { font-size: 13px; white-space: nowrap; }
        #events td { white-space: normal; overflow-wrap: anywhere; color: var(--text); } #events td:first-child { white-space: nowrap; color: var(--dim); font-variant-numeric: tabular-nums; } #events small { font-size: inherit; margin-left: 8px; }
        #events tr.debug td { color: var(--dim); } #events .error td:last-child { color: var(--jump); } #events .warning td:last-child { color: var(--warn); }
        #events tr { display: table-row; } #events td { display: table-cell; text-align: left; border-top: 1px solid var(--line); }
        #events table { display: table; } #events tbody { display: table-row-group; }
        #events td::before { content: none; }
        @media (max-width: 900px) {
          #figures { order: 1; } #verdict { order: 0; } #sky { order: 3; } #map { order: 2; } #hour { order: 4; }
          #commands { order: 5; } .facts { order: 6; } #log { order: 7; }
          .pair { display: contents; } #events small { display: block; margin: 0; } .figures { grid-template-columns: 1fr 1fr; gap: 8px; } .figures div:last-child { grid-column: 1 / -1; } dd { max-width: 62vw; }
        }
        """

    private static let body: Markup = """

        <header>
          <span class="dim">Waypost</span>
          <h1 id="vehicle"></h1>
          <span id="state" class="pill dim" role="status">connecting</span>
          <span id="since" class="dim"></span>
        </header>
        <noscript><p class="warnings">This page needs JavaScript. <a href="status">status</a> has the same data as text.</p></noscript>
        <main hidden>
          <section id="verdict"><div role="status"><h2 id="title"></h2></div><div id="text"></div></section>
          <dl class="figures" id="figures"></dl>
          <div class="column">
            <div id="map"></div>
            <section id="hour">
              <h2>The last hour, per minute</h2>
              <svg class="strip" id="deliveries" viewBox="0 0 60 72" preserveAspectRatio="none" role="img"></svg>
              <svg class="strip" id="queue" viewBox="0 0 60 44" preserveAspectRatio="none" role="img"></svg>
              <div class="axis" aria-hidden="true"><span>1 hour ago</span><span>now</span></div>
              <p class="key"><span><i class="live"></i><span id="delivered"></span></span><span><i class="failed"></i><span id="failed"></span></span><span><i class="line"></i><span id="waiting"></span></span><span id="outage"><i class="outage"></i>outage</span><span>logarithmic heights</span></p>
            </section>
            <div class="pair">
              <section class="facts"><h2>Receiver</h2><dl id="receiver"></dl></section>
              <section class="facts"><h2>This vehicle</h2><dl id="service"></dl></section>
            </div>
            <section id="log"><h2>Last events</h2><div id="events"><table><tbody id="lines"></tbody></table></div></section>
          </div>
          <div class="column">
            <section id="sky"><h2>Satellites</h2><div id="systems"></div></section>
            <section id="commands">
              <h2>Commands on this machine</h2>
              <dl>
                <dt>Checks</dt><dd><code>sudo waypost check --online</code></dd>
                <dt>Conditions</dt><dd><code>waypost why</code></dd>
                <dt>Pending updates</dt><dd><code>waypost outbox list</code></dd>
                <dt>Support bundle</dt><dd><code>sudo waypost bundle</code></dd>
              </dl>
            </section>
            <section class="facts"><h2>Outbox and delivery</h2><dl id="delivery"></dl></section>
            <section class="facts"><h2>Token</h2><dl id="token"></dl></section>
          </div>
        </main>

        """

    private static let script: Markup = #"""
        let view = null, drawn = "";

        // A browser refuses requests relative to an address that contains a password.
        const here = new URL(location.href);
        here.username = here.password = "";

        // Local time is that of the browser's time zone. Its date is shown if it differs from the date in UTC.
        const utc = ms => new Date(ms).toISOString();
        const local = ms => utc(ms - new Date(ms).getTimezoneOffset() * 60000);
        const localTime = (ms, end = 19) => {
          const date = local(ms).slice(0, 10);
          return (date === utc(ms).slice(0, 10) ? "" : date + " ") + local(ms).slice(11, end) + "\u00a0local\u00a0time";
        };
        const clocks = ms => clock(ms) + "\u00a0UTC, " + localTime(ms);
        // The date is left out if it is the page's.
        const moment = time => {
          if (!time) return time;
          const date = utc(Date.parse(time)).slice(0, 10);
          return (date === utc(view ? view.now : Date.now()).slice(0, 10) ? "" : date + " ") + clocks(Date.parse(time));
        };
        const ago = seconds => seconds == null ? "never" : span(seconds) + " ago";

        function showFigures() {
          const { status } = view, { receiver, delivery, ledger, outbox } = status, { accuracyMeters: accuracy, hdop, satellitesUsed: used, satellitesInView: sight } = receiver;
          const oldest = outbox.oldestPendingSeconds, age = receiver.secondsSinceFix, { secondsSinceDelivery: sent, deliveredAt: at, timeOfFix } = delivery;
          const rows = [
            ["Position", age == null ? "none yet" : span(age) + " old", receiver.quality || "", age == null || age > 90 ? "bad" : age > 10 ? "late" : ""],
            ["Accuracy", accuracy == null ? "–" : "± " + (accuracy < 10 ? accuracy.toFixed(1) : Math.round(accuracy)) + " m", hdop == null ? "" : "HDOP " + hdop.toFixed(1), ""],
            ["Satellites used", used == null ? "–" : number(used), sight == null ? "" : "of " + sight + " in view", used != null && used < 4 ? "late" : ""],
            ["Last delivery", sent != null ? span(sent) + " ago" : at ? span((view.now - Date.parse(at)) / 1000) + " ago" : timeOfFix ? "before this start" : "none yet", at ? moment(at) : sent == null && timeOfFix ? "position of " + moment(timeOfFix) + " delivered" : "", status.conditions.some(({ stage, severity }) => stage === "delivery" && severity !== "info" || stage === "token" && severity === "error") ? "bad" : ""],
            ["Pending updates", number(ledger.pending), oldest == null ? "" : "oldest " + span(oldest) + " old", ledger.pending >= 50 ? "late" : ""],
          ];
          $("figures").replaceChildren(...rows.map(([name, value, detail, kind]) => {
            const made = element("div"), shown = element("dd", value, kind);
            shown.append(element("small", detail));
            made.append(element("dt", name), shown);
            return made;
          }));
        }

        function showSky() {
          const sky = view.status.receiver.sky || [];
          $("systems").replaceChildren(...sky.length ? sky.map(system => {
            const made = element("div", undefined, "system"), title = element("p"), bars = element("div", undefined, "bars");
            const used = system.satellites.filter(satellite => satellite.used).length;
            title.append(element("b", system.system), element("span", `${used} of ${system.satellites.length} used`, "dim"));
            bars.append(...system.satellites.map(satellite => {
              const bar = element("div", undefined, satellite.used ? "used" : ""), strength = satellite.signalDecibelHertz, fill = element("i");
              fill.style.height = Math.max(2, Math.min(55, strength || 0)) + "px";
              bar.title = `${satellite.number}: ${strength == null ? "no signal" : strength + " dB-Hz"}, ${satellite.used ? "used" : "not used"}` +
                (satellite.elevationDegrees == null ? "" : `, ${satellite.elevationDegrees}° high, ${satellite.azimuthDegrees ?? "?"}° from north`);
              bar.append(strength == null ? "–" : String(Math.round(strength)), fill, String(satellite.number));
              return bar;
            }));
            made.append(title, bars);
            return made;
          }) : [element("span", "No satellites known.", "dim")]);
          if (sky.length) $("systems").append(element("p", "Strength in dB-Hz above, number below; filled: used. 40 or more is strong, below 25 is weak.", "dim key"));
        }

        function showHour() {
          const { minutes, outages } = view;
          const most = index => Math.max(0, ...minutes.map(minute => minute ? minute[index] || 0 : 0));
          const tallest = most(0), worst = most(1), longest = most(2);
          let live = "", failed = "", line = "", pen = "M";
          minutes.forEach((minute, index) => {
            if (minute && minute[0]) live += `M${index + .1} 54v${-height(minute[0], tallest, 50)}h.8V54z`;
            if (minute && minute[1]) failed += `M${index + .1} 56v${height(minute[1], worst, 16)}h.8V56z`;
            if (minute && minute[2] != null) { line += `${pen}${index + .5} ${42 - height(minute[2], longest, 38)}`; pen = "L"; } else pen = "M";
          });
          const bands = room => outages.map(([from, to]) => `M${from.toFixed(2)} 0V${room}H${Math.max(to, from + .2).toFixed(2)}V0z`).join("");
          $("deliveries").replaceChildren(shape("path", { class: "outage", d: bands(72) }), shape("path", { class: "base", d: "M0 55H60" }), shape("path", { class: "live", d: live }), shape("path", { class: "failed", d: failed }));
          $("queue").replaceChildren(shape("path", { class: "outage", d: bands(44) }), shape("path", { class: "line", d: line }));
          $("delivered").textContent = `delivered, peak ${number(tallest)} per minute`;
          $("failed").textContent = `failed attempts, peak ${number(worst)} per minute`;
          $("waiting").textContent = `pending, peak ${number(longest)}`;
          $("outage").hidden = !outages.length;
          const count = index => minutes.reduce((sum, minute) => sum + (minute ? minute[index] || 0 : 0), 0);
          $("deliveries").setAttribute("aria-label", `Last hour: ${number(count(0))} updates delivered, ${number(count(1))} attempts failed, ${counted(outages.length, "outage", "outages")}`);
          $("queue").setAttribute("aria-label", `Pending updates in the last hour: peak ${number(longest)}`);
        }

        function showFacts() {
          const { status, place } = view, { receiver, delivery, ledger, token = {}, outbox, host, counts } = status, offset = host.clockOffsetSeconds;
          const rows = (id, all) => list(id, all.filter(([, value]) => value != null && value !== ""));
          rows("receiver", [
            ["State", { waiting: "waiting", no_position: "no position" }[receiver.kind] || receiver.state, receiver.kind === "receiving" ? "" : "bad"],
            ["Last position", place && placeLink(place)],
            ["Speed", place && place.speed != null ? rate(place.speed) : null],
            ["Heading", place && place.heading != null ? Math.round(place.heading) + "°" : null],
            ["Time of fix", moment(receiver.timeOfFix)],
            ["Fixes", number(counts.fixes)],
          ]);
          rows("delivery", [
            ["Pending", number(ledger.pending), ledger.pending >= 50 ? "late" : ""],
            ["Delivered", number(ledger.delivered)],
            ["Evicted", ledger.evicted ? number(ledger.evicted) : null, "bad"],
            ["Quarantined", ledger.quarantined ? number(ledger.quarantined) : null, "late"],
            ["Next attempt", delivery.nextAttemptSeconds ? "in " + span(delivery.nextAttemptSeconds) : null],
            ["Requests", number(counts.requests)],
            ["Retries", number(counts.retries)],
            ["Sent", bytes(counts.bytesSent)],
          ]);
          rows("token", [
            ["From", token.provider],
            ["State", token.expiresAt ? null : "none", counts.tokenFetches ? "late" : ""],
            ["Valid until", moment(token.expiresAt)],
            ["Last rejection", token.lastRejection && token.lastRejection.replaceAll("_", " "), "late"],
            ["Rejected", token.lastRejectionSecondsAgo == null ? null : ago(token.lastRejectionSecondsAgo)],
            ["Requests", number(counts.tokenFetches)],
          ]);
          rows("service", [
            ["Vehicle", status.vehicle],
            ["Waypost", status.version],
            ["Running for", span(status.uptimeSeconds)],
            ["Clock offset", offset == null ? null : offset + " s", Math.abs(offset || 0) > 30 ? "bad" : ""],
            ["Outbox in use", outbox.bytes == null ? null : bytes(outbox.usedBytes) + " of " + bytes(outbox.maximumBytes)],
            ["Disk free", host.freeDiskBytes == null ? null : bytes(host.freeDiskBytes)],
            ["Memory", host.residentBytes == null ? null : bytes(host.residentBytes)],
            ["A crash may lose", outbox.durability.updatesAtRisk ? counted(outbox.durability.updatesAtRisk, "update", "updates") : "nothing"],
          ]);
        }

        function showVerdict({ kind, paragraphs }) {
          const [{ text: title, since }, ...lines] = paragraphs.flat();
          const both = (text, since) => since ? text + ", " + localTime(since, 16) : text, heading = both(title, since);
          document.title = title + " · " + $("vehicle").textContent;
          $("verdict").className = kind;
          if ($("title").textContent !== heading) $("title").textContent = heading;
          $("text").replaceChildren(...lines.map(({ part, text, since }) => {
            const made = element("p", undefined, part);
            made.append(part === "remedy" ? element("strong", text) : both(text, since));
            return made;
          }));
        }

        function show() {
          const { status } = view;
          $("vehicle").textContent = status.vehicle.replace(/.*\//, "");
          $("since").textContent = clocks(view.now);
          showVerdict(view.verdict);
          document.querySelector("main").hidden = false;
          showFigures();
          showSky();
          showHour();
          showFacts();
          $("lines").replaceChildren(...view.events.map(event => {
            const row = element("tr", undefined, event.level);
            const time = element("td", clock(event.time) + " UTC ");
            time.append(element("small", local(event.time).slice(11, 19) + " local"));
            row.append(time, element("td", event.text));
            return row;
          }));
        }

        async function ask(path) {
          const answer = await fetch(new URL(path, here), { cache: "no-store", signal: AbortSignal.timeout(20000) });
          if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.error?.message || "the service answered " + answer.status);
          return answer;
        }

        async function refresh() {
          try {
            view = await (await ask("page.json")).json();
          } catch (problem) {
            const since = view ? " since " + clocks(view.now) : "";
            const isSilent = problem instanceof TypeError || problem.name === "TimeoutError";
            setState(isSilent ? "no answer" + since : "not updated" + since + ": " + problem.message, "bad");
            document.body.classList.add("stale");
            if (!view) return;
            const title = isSilent ? "The service does not answer" : "This page is not updated";
            showVerdict({ kind: "trouble", paragraphs: [[{ text: title }, { part: "cause", text: "Everything below dates from " + clocks(view.now) + "." }]] });
            return;
          }
          setState("live", "dim");
          document.body.classList.remove("stale");
          show();
        }

        async function refreshMap() {
          try {
            const drawing = await (await ask("map")).text();
            // The service draws the map, without any text from outside.
            if (drawing !== drawn) $("map").innerHTML = drawn = drawing;
          } catch {}  // refresh reports the failure
        }

        poll(refresh, 2000);
        poll(refreshMap, 10000);
        """#
}
