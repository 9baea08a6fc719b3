/// What the decoder met in one log.
struct LogSection {
    let log: MapLog
    let isOpen: Bool

    var markup: String {
        let account = LogAccount(log.statistics)
        var rows = [
            ("Receiver", account.receiver.joined(separator: "; ")),
            ("Talkers", account.talkers.joined(separator: ", ")),
            ("Sentences", account.size), ("", account.sentences.joined(separator: ", ")), ("Fixes", account.fixes),
        ]
        rows += account.refusals.enumerated().map { index, refusal in
            (index == 0 ? "Refused" : "", "\(FigureText.grouped(refusal.count)): \(refusal.text)")
        }
        var markup = Markup()
        markup.add("<section><details\(isOpen ? " open" : "")>")
        markup.add("<summary><h2><bdi>\(Markup.escaped(log.name))</bdi></h2></summary><dl>")
        for (name, value) in rows where !value.isEmpty {
            markup.add("<dt>\(name)</dt><dd>\(Markup.escaped(value))</dd>")
        }
        markup.add("</dl></details></section>")
        return markup.text
    }
}
