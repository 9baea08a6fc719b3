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
