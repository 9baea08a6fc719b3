import StrictJSON
import Waypost

/// The page waypost.json(5): every key of the configuration, made of what its reader declares.
enum ConfigurationManual {
    static var text: String {
        var page = ManualText(name: "waypost.json", section: 5, summary: "the configuration of waypost")
        page.add(section: "DESCRIPTION")
        page.add(
            paragraph: """
                The configuration of waypost(1) is one JSON file, \(Configuration.usualFile) unless --config names another one. \
                It is read strictly: an unknown key, a wrong type and a value out of range are errors, and waypost check tells \
                all of them at once. Keys with a dot stand in sections: upload.endpoint is the key endpoint in the section upload.
                """)
        page.add(
            paragraph: """
                Instead of a text there may be { "file": PATH }, { "environment": NAME } or, for what systemd has decrypted for \
                the service, { "credential": NAME }. The text is then taken from there, so that one configuration serves many \
                vehicles. waypost config shows what is in force.
                """)
        page.add(section: "KEYS")
        var section = ""
        for key in ConfigurationKey.all where !key.path.hasPrefix("consumerAuthorization.") {
            let own = String(key.path.prefix { $0 != "." })
            if own != section { page.add(subsection: own) }
            section = own
            add(key, to: &page)
        }
        page.add(section: "EXAMPLE")
        page.add(example: example)
        page.add(section: "SEE ALSO")
        page.add(
            verbatim: ["waypost(1)", "systemd-creds(1)"].map(ManualText.reference).joined(separator: ", "))
        return page.text
    }

    private static func add(_ key: ConfigurationKey, to page: inout ManualText) {
        let isSection = key.form == .section
        let kind = key.type.map { ", of type \($0)" } ?? ""
        var meaning = "\(key.about.capitalizedSentence)\(kind)."
        if key.path == "consumerAuthorization" { meaning += " It has the keys of authorization." }
        if key.isRequired {
            meaning += " Required."
        } else if let fallback = key.fallback {
            let words = fallback.stringValue ?? fallback.text
            meaning += " Without it \(words)."
        }
        page.add(term: ManualText.bold(key.path) + (isSection ? "" : "  \(ManualText.literal(key.range))"), meaning)
    }

    private static let example = [
        #"{"#,
        #"  "vehicle": { "providerId": "my-cloud-project", "vehicleId": { "file": "/etc/vehicle-id" } },"#,
        #"  "receiver": { "type": "serial", "device": "/dev/ttyUSB0", "baudRate": "automatic" },"#,
        #"  "authorization": {"#,
        #"    "type": "http","#,
        #"    "url": "https://backend.example.com/token/driver/{vehicleId}","#,
        #"    "headers": { "Authorization": { "credential": "backend-key", "scheme": "bearer" } }"#,
        #"  }"#,
        #"}"#,
    ]
}
