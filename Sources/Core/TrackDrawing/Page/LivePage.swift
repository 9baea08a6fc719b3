/// The common parts of all pages that refresh themselves: the style of lists and figures, and the beginning of the
/// scripts.
package enum LivePage {
    /// The CSS rules for these pages, which follow those of `PageStyle`.
    package static let style: Markup = """

        body { max-width: none; padding: 0; }
        header {
          display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; padding: 12px 20px;
          background: var(--card); border-bottom: 1px solid var(--line);
        }
        h1 { font-size: 17px; }
        h2 { font-size: 13px; margin: 0 0 10px; color: var(--dim); }
        .pill { padding: 2px 10px; border-radius: 12px; border: 1px solid currentColor; font-size: 13px; font-weight: 600; }
        .good { color: var(--good); } .bad { color: var(--jump); } .late { color: var(--warn); } .dim { color: var(--dim); }
        main {
          display: grid; gap: 14px; padding: 14px 20px 24px; max-width: 1680px; margin: 0 auto;
          grid-template-columns: minmax(0, 1fr) 340px; align-items: start;
        }
        .column { display: grid; gap: 14px; min-width: 0; }
        section { margin: 0; min-width: 0; }
        [hidden] { display: none !important; }
        .stale section, .stale dl { opacity: .5; } .stale #verdict, .stale section dl { opacity: 1; }
        dl { display: grid; grid-template-columns: minmax(max-content, 1fr) auto; gap: 5px 14px; margin: 0; }
        dt { color: var(--dim); } dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; max-width: 220px; overflow-wrap: anywhere; } dd a { white-space: nowrap; }
        ul { margin: 0; padding-left: 18px; } li { margin: 2px 0; }
        table { width: 100%; font-size: 13px; }
        td { padding: 4px 12px 4px 0; vertical-align: top; }
        tr:first-child td { border-top: 0; }
        .key { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 8px 0 0; font-size: 13px; color: var(--dim); }
        .key i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; border-radius: 2px; }
        .strip { background: var(--ground); border-radius: 3px; }
        .strip .outage { fill: var(--jump); fill-opacity: .25; stroke: var(--jump); vector-effect: non-scaling-stroke; }
        .key i.outage { border: 1px solid var(--jump); }
        .strip .live, .key .live { fill: var(--accent); background: var(--accent); }
        .strip .waited, .key .waited { fill: var(--warn); background: var(--warn); }
        @media (max-width: 900px) {
          main { grid-template-columns: minmax(0, 1fr); padding: 12px; gap: 12px; }
          .column { display: contents; }
          header { padding: 10px 12px; }
        }
        """

    /// The beginning of every script. It contains functions that find and create elements, format numbers and times,
    /// and poll the service.
    package static let script: Markup = #"""
        "use strict";
        const $ = id => document.getElementById(id);
        const element = (name, text, kind) => {
          const made = document.createElement(name);
          if (text !== undefined) made.textContent = text;
          if (kind) made.className = kind;
          return made;
        };
        const shape = (name, attributes) => {
          const made = document.createElementNS("http://www.w3.org/2000/svg", name);
          for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
          return made;
        };
        const number = value => value.toLocaleString("en-GB");
        const counted = (value, noun, plural) => number(value) + " " + (value === 1 ? noun : plural);
        const clock = ms => new Date(ms).toISOString().slice(11, 19);
        const span = seconds => {
          const s = Math.max(0, Math.round(seconds));
          if (s < 100) return s + "\u00a0s";
          if (s < 600) return Math.floor(s / 60) + "\u00a0min" + (s % 60 ? " " + (s % 60) + "\u00a0s" : "");
          if (s < 6000) return Math.round(s / 60) + "\u00a0min";
          if (s < 360000) return (s / 3600).toFixed(1) + "\u00a0h";
          return Math.round(s / 86400) + "\u00a0days";
        };
        const meters = value => value < 1000 ? Math.round(value) + " m" : (value / 1000).toFixed(value < 1e4 ? 2 : 1) + " km";
        const bytes = count => count < 1e4 ? number(count) + " B" : count < 1e7 ? (count / 1e3).toFixed(1) + " kB" : count < 1e10 ? (count / 1e6).toFixed(1) + " MB" : (count / 1e9).toFixed(1) + " GB";
        const rate = speed => speed == null ? "–" : Math.round(speed * 3.6) + " km/h";
        // Heights grow with the number's logarithm, because a backlog delivers a hundred fixes at once.
        const height = (count, tallest, room) => room * Math.log1p(count) / Math.log1p(Math.max(4, tallest));

        // Replacing a link while it has the keyboard focus would lose the focus.
        function list(id, rows) {
          if ($(id).contains(document.activeElement)) return;
          $(id).replaceChildren(...rows.flatMap(([name, value, kind]) => {
            const shown = element("dd", undefined, kind);
            shown.append(value);
            return [element("dt", name), shown];
          }));
        }

        function placeLink(place, words) {
          const link = element("a", words || place.latitude.toFixed(5) + ", " + place.longitude.toFixed(5));
          link.href = place.map;
          link.rel = "noreferrer";
          link.title = "the place on OpenStreetMap";
          return link;
        }

        // A screen reader announces each change of the text.
        function setState(words, kind) {
          const state = $("state");
          if (state.textContent !== words) state.textContent = words;
          state.className = "pill " + kind;
        }

        // A hidden page requests nothing.
        async function poll(refresh, pause) {
          try { if (!document.hidden) await refresh(); } finally { setTimeout(poll, pause, refresh, pause); }
        }

        """#
}
