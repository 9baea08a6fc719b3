import Testing
@testable import Operations

/// The page as a browser gets it.
@Suite struct TechnicianPages {
    let page = TechnicianPage.html(nonce: "4711")

    /// It works in a vehicle without a network: nothing is asked of any other address.
    @Test func areOneDocument() {
        for word in ["http://", "https://", "src=", "@import", "url("] {
            // The name of SVG's elements is no address.
            #expect(!page.replacing("http://www.w3.org/2000/svg", with: "").contains(word), "\(word)")
        }
        #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
        #expect(page.utf8.count < 48_000, "\(page.utf8.count)")
    }

    /// What the policy of the page allows is what it has: one style and one script, with its nonce.
    @Test func keepTheirOwnPolicy() {
        #expect(page.ranges(of: "<style nonce=\"4711\">").count == 1 && page.ranges(of: "<style").count == 1)
        #expect(page.ranges(of: "<script nonce=\"4711\">").count == 1 && page.ranges(of: "<script").count == 1)
        #expect(!page.contains(#/ on[a-z]+="/#), "no handler within an element")
        #expect(!page.contains(" style=\""))
        #expect(!page.contains("eval(") && !page.contains("Function("))
    }

    /// Only the map comes as markup, and that from the module which escapes all that it writes.
    @Test func showTextAsText() {
        #expect(page.ranges(of: "innerHTML").count == 1 && page.contains("$(\"map\").innerHTML"))
        #expect(!page.contains("insertAdjacentHTML") && !page.contains("outerHTML") && !page.contains("document.write"))
    }

    /// Under an address with a password in it, as of a proxy, a browser asks for nothing that is relative to it.
    @Test func askAnAddressWithoutThePassword() {
        #expect(page.ranges(of: "fetch(").count == 1 && page.contains("fetch(new URL(path, here)"))
        #expect(page.contains("here.username = here.password = \"\""))
    }

    /// Whoever hears the page is told of another verdict, not of each second that a figure counts.
    @Test func announceTheVerdictAlone() {
        #expect(page.contains("<div role=\"status\"><h2 id=\"title\"></h2></div>"))
        #expect(!page.contains("id=\"verdict\" role"))
    }

    /// Every element that the script names is there, each once.
    @Test func haveWhatTheirScriptNames() {
        let named = Set(page.matches(of: /\$\("(\w+)"\)/).map { String($0.1) })
        let listed = Set(page.matches(of: /rows\("(\w+)", \[/).map { String($0.1) })
        #expect(named.count > 15 && listed.count == 4)
        for id in named.union(listed) { #expect(page.ranges(of: "id=\"\(id)\"").count == 1, "\(id)") }
    }
}
