import Testing
@testable import Operations

/// The page that the status address serves to technicians.
@Suite struct TechnicianPages {
    let page = TechnicianPage.html(nonce: "4711")

    /// The page requests nothing from another address, so it works in a vehicle without a network.
    @Test func areSelfContained() {
        for word in ["http://", "https://", "src=", "@import", "url("] {
            // SVG's namespace isn't requested.
            #expect(!page.replacing("http://www.w3.org/2000/svg", with: "").contains(word), "\(word)")
        }
        #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
        #expect(page.utf8.count < 48_000, "\(page.utf8.count)")
    }

    /// The page has one style and one script, each with the nonce of its policy.
    @Test func followTheirOwnSecurityPolicy() {
        #expect(page.ranges(of: "<style nonce=\"4711\">").count == 1 && page.ranges(of: "<style").count == 1)
        #expect(page.ranges(of: "<script nonce=\"4711\">").count == 1 && page.ranges(of: "<script").count == 1)
        #expect(!page.contains(#/ on[a-z]+="/#), "no element has a handler")
        #expect(!page.contains(" style=\""))
        #expect(!page.contains("eval(") && !page.contains("Function("))
    }

    /// Only the map is inserted as markup; the module that draws it escapes all text.
    @Test func insertOnlyTheMapAsMarkup() {
        #expect(page.ranges(of: "innerHTML").count == 1 && page.contains("$(\"map\").innerHTML"))
        #expect(!page.contains("insertAdjacentHTML") && !page.contains("outerHTML") && !page.contains("document.write"))
    }

    /// If the page's address contains a password, for example because of a proxy, a browser refuses requests relative
    /// to that address.
    @Test func omitThePasswordFromRequestAddresses() {
        #expect(page.ranges(of: "fetch(").count == 1 && page.contains("fetch(new URL(path, here)"))
        #expect(page.contains("here.username = here.password = \"\""))
    }

    /// The page only reads: it has no form, and its requests have the default method.
    @Test func sendOnlyGETRequests() {
        for word in [
            "<form", "<input", "<button", "method:", "XMLHttpRequest", "sendBeacon", "WebSocket", "EventSource",
        ] { #expect(!page.contains(word), "\(word)") }
    }

    @Test func nameTheProductInTheHeader() throws {
        let header = try #require(page.firstMatch(of: /<header>([^~]*?)<\/header>/))
        #expect(header.1.contains("<span class=\"dim\">Waypost</span>"))
    }

    @Test func showLocalTimeBesideUTC() {
        #expect(page.contains(#"const clocks = ms => clock(ms) + "\u00a0UTC, " + localTime(ms);"#))
        // Apart from this function, only the events show a time in UTC, and they show local time next to it.
        #expect(page.ranges(of: /\bclock\(/).count == 2 && page.ranges(of: "clock(event.time)").count == 1)
        #expect(page.contains(#"element("small", local(event.time).slice(11, 19) + " local")"#))
        #expect(page.contains(#"$("since").textContent = clocks(view.now);"#))
        #expect(page.contains("both(title, since)") && page.contains("both(text, since)"))
        for time in ["receiver.timeOfFix", "token.expiresAt", "timeOfFix", "at"] {
            #expect(page.contains("moment(\(time))"), "\(time)")
        }
    }

    @Test func emphasiseTheRemedy() {
        #expect(page.contains(#"part === "remedy" ? element("strong", text)"#))
        #expect(!page.contains("p.remedy"), "the emphasis doesn't depend on the style")
        #expect(Verdict.Line.Part.remedy.rawValue == "remedy")
    }

    @Test func nameTheCommands() {
        let named = page.matches(of: /<dd><code>([^<]*)<\/code><\/dd>/).map { String($0.1) }
        #expect(
            named == [
                "sudo waypost check --online", "waypost why", "waypost outbox list", "sudo waypost bundle",
            ])
    }

    /// Verdict and figures come before the map: in the document, and in the order that a phone's style sets.
    @Test func showTheFiguresBeforeTheMap() throws {
        let places = try ["verdict", "figures", "map"].map { id in
            try #require(page.firstRange(of: "id=\"\(id)\"")).lowerBound
        }
        #expect(places == places.sorted())
        let phone = try #require(page.split(separator: "@media (max-width: 900px)").last).prefix { $0 != "<" }
        let orders = Dictionary(
            uniqueKeysWithValues: phone.matches(of: /[#.](\w+) \{ order: ([0-9]); \}/).map { ($0.1, $0.2) })
        let values = try ["verdict", "figures", "map", "commands"].map { try #require(orders[$0]) }
        #expect(values == values.sorted() && Set(values).count == values.count, "\(orders)")
    }

    /// A screen reader announces a new verdict, but not each new figure.
    @Test func announceOnlyTheVerdict() {
        #expect(page.contains("<div role=\"status\"><h2 id=\"title\"></h2></div>"))
        #expect(!page.contains("id=\"verdict\" role"))
    }

    @Test func containEachElementThatTheirScriptUses() {
        let named = Set(page.matches(of: /\$\("(\w+)"\)/).map { String($0.1) })
        let listed = Set(page.matches(of: /rows\("(\w+)", \[/).map { String($0.1) })
        #expect(named.count > 15 && listed.count == 4)
        for id in named.union(listed) { #expect(page.ranges(of: "id=\"\(id)\"").count == 1, "\(id)") }
    }
}
