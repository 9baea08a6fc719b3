/// The style of every page that shows a track, for light mode, dark mode and printing.
package enum PageStyle {
    /// Returns the start of a page, up to the content of its body. `security` is markup for the head, and `style`
    /// contains CSS rules for this page only. `nonce` is the nonce of the page's content security policy; `nil` if the
    /// policy has none.
    package static func opening(
        title: String, security: Markup = "", style: Markup = "", nonce: String? = nil
    ) -> Markup {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">\(security)
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style\(nonceAttribute(nonce))>
        \(sheet)\(style)
        </style>
        </head>
        <body>
        """
    }

    private static func nonceAttribute(_ nonce: String?) -> Markup { nonce.map { " nonce=\"\($0)\"" } ?? "" }

    // The colours for speeds are evenly spaced colours of the viridis colour map. They differ in lightness as much as
    // in hue, so that people with any colour vision can distinguish them. The colours that are closest to the
    // background are left out.
    private static let sheet: Markup = """
        :root {
          color-scheme: light dark;
          --page: #f3f4f6; --card: #fff; --line: #dde1e6; --text: #1a2027; --dim: #5b6672; --ground: #fafbfc;
          --grid: #dde2e7; --pause: #e9ecf0; --accent: #31688e; --warn: #8f4a00; --warnground: #fff4e3; --mark: #1a2027;
          --casing: #fff; --jump: #b3261e; --standing: #fbefd5; --point: #c2185b; --good: #14773f;
          --k0: #440154; --k1: #472c7a; --k2: #3b518b; --k3: #2c718e; --k4: #21908d; --k5: #27ad81; --k6: #6ccd5a;
          --k7: #7b858f;
        }
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --page: #0f1316; --card: #181d22; --line: #2b333b; --text: #e7ebef; --dim: #9ba7b3; --ground: #12171b;
            --grid: #28313a; --pause: #232a31; --accent: #58b4c4; --warn: #ffc27a; --warnground: #33260f;
            --mark: #f2f5f7; --casing: #12171b; --jump: #ff8a80; --standing: #35301f; --point: #ff7eb6; --good: #5fcf8e;
            --k0: #8268c8; --k1: #5f7fd0; --k2: #3f96b4; --k3: #26ad9b; --k4: #52c569; --k5: #a5db36; --k6: #fde725;
            --k7: #8d98a3;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; max-width: 1220px; padding: 16px 24px 32px; background: var(--page); color: var(--text);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
        }
        h1 { font-size: 24px; line-height: 1.2; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
        h2 { font-size: 15px; margin: 0 0 8px; font-weight: 650; overflow-wrap: anywhere; }
        .span { margin: 2px 0 12px; color: var(--dim); font-variant-numeric: tabular-nums; text-wrap: pretty; }
        .figures { display: flex; flex-wrap: wrap; gap: 10px; margin: 0 0 12px; }
        .figures div {
          flex: 1 1 130px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 6px 12px 7px;
        }
        .figures dt { font-size: 13px; color: var(--dim); }
        .figures dd { margin: 0; font-size: 19px; font-weight: 650; line-height: 1.25; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .figures small { display: block; min-height: 18px; font-size: 13px; font-weight: 400; color: var(--dim); white-space: normal; }
        .warnings {
          margin: 0 0 16px; padding: 10px 16px 10px 32px; border-radius: 8px; background: var(--warnground); color: var(--warn);
        }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; margin: 0 0 16px; }
        .drawing { padding: 0; overflow: hidden; container-type: inline-size; }
        svg { display: block; width: 100%; height: auto; }
        svg.narrow { display: none; }
        svg.map { background: var(--ground); touch-action: pan-y; }
        svg.profile { touch-action: pan-y; }
        a { color: var(--accent); }
        .pointer { visibility: hidden; fill: var(--point); stroke: var(--casing); stroke-width: 2; pointer-events: none; }
        .profile .pointer { fill: none; stroke: var(--point); stroke-width: 1.5; }
        .pointer.on { visibility: visible; }
        .place { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: center; padding: 10px 16px 2px; font-variant-numeric: tabular-nums; }
        .place[hidden] { display: none; }
        .place input { flex: 1 1 260px; min-width: 0; margin: 0; accent-color: var(--point); }
        .place p { margin: 0; flex: 0 0 40em; }
        .place a { white-space: nowrap; }
        .place output { color: var(--dim); } .place output.on { color: var(--text); font-weight: 650; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        svg.profile { padding: 8px 8px 0; }
        text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--dim); font-variant-numeric: tabular-nums; }
        .narrow text { font-size: 11px; }
        .ground { fill: var(--ground); }
        .grid { stroke: var(--grid); fill: none; vector-effect: non-scaling-stroke; }
        .coordinate { font-size: 11px; }
        .north path { fill: var(--dim); } .north text { font-weight: 650; }
        .scale path { fill: none; stroke: var(--dim); stroke-width: 1.5; }
        .casing, .track { fill: none; stroke-linecap: round; stroke-linejoin: round; }
        .casing { stroke: var(--casing); stroke-width: 5.5; }
        .track { stroke-width: 3; }
        .k0 { stroke: var(--k0); background: var(--k0); } .k1 { stroke: var(--k1); background: var(--k1); }
        .k2 { stroke: var(--k2); background: var(--k2); } .k3 { stroke: var(--k3); background: var(--k3); }
        .k4 { stroke: var(--k4); background: var(--k4); } .k5 { stroke: var(--k5); background: var(--k5); }
        .k6 { stroke: var(--k6); background: var(--k6); } .k7 { stroke: var(--k7); background: var(--k7); }
        .link { fill: none; stroke: var(--dim); stroke-width: 1.5; stroke-dasharray: 6 5; }
        .link.jump, .link.backward { stroke: var(--jump); stroke-dasharray: 2 4; }
        .break path { fill: var(--card); stroke: var(--dim); stroke-width: 1.5; }
        .break.jump path, .break.backward path { stroke: var(--jump); }
        .stop rect { fill: var(--mark); stroke: var(--casing); stroke-width: 1.5; }
        .stop text { fill: var(--casing); font-weight: 650; text-anchor: middle; font-size: 11px; }
        .start circle { fill: var(--casing); stroke: var(--mark); stroke-width: 3; }
        .halt { fill: var(--casing); stroke: var(--mark); stroke-width: 2; }
        .end rect { fill: var(--mark); stroke: var(--casing); stroke-width: 1.5; }
        .late { stroke: var(--warn); stroke-width: 5; stroke-linecap: round; }
        .track.plain { stroke-width: 5; opacity: .45; } .track.plain use { stroke: var(--k7); }
        .reported { fill: none; stroke: var(--point); stroke-width: 1; }
        .reported-live, .reported-past { stroke: var(--point); stroke-width: 6; stroke-linecap: round; }
        .reported-past { stroke-width: 3; }
        .vehicle { fill: var(--accent); stroke: var(--casing); stroke-width: 2; stroke-linejoin: round; }
        .vehicle.last { fill: var(--dim); }
        .accuracy { fill: var(--accent); fill-opacity: .15; }
        .label { fill: var(--text); stroke: var(--ground); stroke-width: 3px; paint-order: stroke; stroke-linejoin: round; }
        .strong { font-weight: 650; }
        .legend { display: flex; flex-wrap: wrap; gap: 10px 28px; align-items: end; padding: 10px 16px 12px; border-top: 1px solid var(--line); font-size: 13px; color: var(--dim); }
        .legend ol, .legend ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; }
        .legend .scale { flex: 0 1 520px; }
        .legend ol { margin-top: 3px; flex-wrap: nowrap; }
        .legend ol li { flex: 1; min-width: 0; text-align: center; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .legend ol i { display: block; height: 8px; margin-bottom: 2px; }
        .legend ol small { display: block; font-size: 12px; }
        .legend ul { gap: 4px 18px; }
        .legend ul i { display: inline-block; vertical-align: middle; margin-right: 7px; }
        i.line { width: 20px; height: 3px; }
        i.line.gap { height: 0; border-top: 2px dashed var(--dim); } i.line.jump { height: 0; border-top: 2px dotted var(--jump); }
        i.dot { width: 13px; height: 13px; border: 3px solid var(--mark); border-radius: 50%; }
        i.dot.end { width: 10px; height: 10px; background: var(--mark); border-radius: 0; }
        i.dot.stop { width: auto; min-width: 17px; height: 17px; padding: 0 5px; border: 0; border-radius: 9px; background: var(--mark); color: var(--casing); font: 650 11px/17px system-ui, sans-serif; text-align: center; }
        i.dot.halt { width: 10px; height: 10px; border-width: 2px; }
        i.dot.now { background: var(--accent); border: 0; border-radius: 0; height: 15px; clip-path: polygon(50% 0, 100% 100%, 50% 76%, 0 100%); }
        i.dot.now.disc { border-radius: 50%; height: 13px; clip-path: none; } i.dot.now.last { background: var(--dim); }
        i.line.plain { height: 5px; background: var(--k7); opacity: .45; } i.line.reported { height: 1px; background: var(--point); }
        i.dot.reported { width: 7px; height: 7px; border: 0; background: var(--point); } i.dot.reported.past { width: 4px; height: 4px; }
        i.dot.late { width: 8px; height: 8px; border: 0; background: var(--warn); }
        i.dot.back { width: 9px; height: 9px; border: 1.5px solid var(--jump); border-radius: 0; transform: rotate(45deg); }
        .number { text-anchor: end; } .title { fill: var(--text); font-weight: 650; }
        .time { text-anchor: middle; } .ticks { stroke: var(--dim); fill: none; }
        .area { fill: var(--accent); opacity: .13; }
        .band { fill: var(--accent); fill-opacity: .5; stroke: var(--accent); stroke-width: 1.25; stroke-linejoin: round; stroke-linecap: round; }
        .pause rect { fill: var(--pause); } .pause text { text-anchor: middle; }
        .standing rect { fill: var(--standing); } .standing text { text-anchor: middle; }
        .note { margin: 0; padding: 2px 16px 12px; font-size: 13px; color: var(--dim); }
        section:not(.drawing) .note { padding: 0 0 8px; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th, td { padding: 5px 24px 5px 0; text-align: left; white-space: nowrap; border-top: 1px solid var(--line); }
        thead th { font-size: 13px; font-weight: 400; color: var(--dim); border-top: 0; }
        td:last-child { color: var(--dim); }
        summary { cursor: pointer; } summary h2 { display: inline; }
        details dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 20px; margin: 10px 0 0; }
        details dt { color: var(--dim); grid-column: 1; } details dd { margin: 0; grid-column: 2; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        footer { color: var(--dim); font-size: 13px; }
        @media screen { svg.map { max-height: max(300px, calc(100vh - 300px)); } }
        @container (max-width: 1000px) { .wide text { font-size: 14.5px; } .wide .coordinate, .wide .stop text { font-size: 13px; } }
        @media screen and (max-width: 720px) {
          body { padding: 14px 12px 24px; } h1 { font-size: 20px; }
          svg.wide { display: none; } svg.narrow { display: block; } svg.profile { padding: 4px 4px 0; }
          .figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); }
          .figures dd { font-size: 19px; }
          .legend { padding: 10px 12px 12px; } .legend .scale { flex-basis: 100%; } .legend ol li { font-size: 12px; }
          .place p { flex-basis: 100%; }
          .scroll thead { display: none; } .scroll table, .scroll tbody { display: block; } .scroll tr { display: block; padding: 6px 0; border-top: 1px solid var(--line); }
          .scroll td { display: flex; justify-content: space-between; gap: 12px; padding: 1px 0; border: 0; white-space: normal; text-align: right; }
          .scroll td:empty { display: none; } .scroll td::before { content: attr(data-label); color: var(--dim); text-align: left; }
          .scroll td:first-child { font-weight: 650; justify-content: flex-start; } .scroll td:first-child::before { content: none; } .scroll td a { white-space: nowrap; }
          details dl { grid-template-columns: minmax(0, 1fr); gap: 0; } details dd { grid-column: 1; margin-bottom: 6px; }
        }
        @media print {
          :root { --page: #fff; --card: #fff; --ground: #fff; }
          body { max-width: none; padding: 0; font-size: 12px; }
          section, .figures div { break-inside: avoid; }
          .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(96px, 1fr)); }
          .figures div { padding: 6px 10px; } .figures dd { font-size: 16px; } .figures dt, .figures small { font-size: 11px; }
          .track, .casing, .k0, .k1, .k2, .k3, .k4, .k5, .k6, .k7, .dot, .area, .band, rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }
        """
}
