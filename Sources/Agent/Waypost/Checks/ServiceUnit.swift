import LinuxPlatform
import ReportedText

/// The section `[Service]` of the service's unit with its drop-ins, as systemd reads them.
package struct ServiceUnit: Sendable, Hashable {
    package static let name = "waypost.service"

    /// The values of each key, in order; an empty one takes back those before it.
    private var values: [String: [String]] = [:]

    /// - Parameter texts: the unit, then its drop-ins in the order in which they count.
    package init(texts: [String]) {
        for text in texts {
            var section = ""
            for line in Self.lines(of: text) {
                if line.hasPrefix("[") {
                    section = line
                } else if section == "[Service]", let mark = line.firstIndex(of: "=") {
                    take(line[..<mark].trimmed, line[line.index(after: mark)...].trimmed)
                }
            }
        }
    }

    private mutating func take(_ key: String, _ value: String) {
        if value.isEmpty { values[key] = [] } else { values[key, default: []].append(value) }
    }

    /// What counts of a key that has one value.
    func value(_ key: String) -> String? { values[key]?.last }

    /// Every word of a key that has a list.
    func words(_ key: String) -> [String] {
        (values[key] ?? []).flatMap { value in
            value.split { $0 == " " || $0 == "\t" }.map { word in String(word.filter { $0 != "\"" }) }
        }
    }

    /// Without comments and empty ones; one that ends with a backslash goes on in the next.
    private static func lines(of text: String) -> [String] {
        var lines: [String] = []
        var begun = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line[...].trimmed
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasSuffix("\\") {
                begun += line.dropLast() + " "
            } else {
                if !(begun + line).isEmpty { lines.append(begun + line) }
                begun = ""
            }
        }
        return lines
    }
}

extension ServiceUnit {
    /// Where systemd looks for units, the first that has one being the one that counts.
    private static let folders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    /// The unit of this machine; `nil` when there is none, as where the service is started by something else. Reads
    /// files; not for the shared pool.
    package static func installed(below root: String = "") -> ServiceUnit? {
        func text(_ path: String) -> String? {
            (try? BoundedFile.contents(of: path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
        }
        let folders = folders.map { root + $0 }
        guard let unit = folders.first(where: { (try? FileSystem.entry(at: "\($0)/\(name)")) != nil }),
            let main = text("\(unit)/\(name)")
        else { return nil }
        // By their names, whatever folder they are in.
        var dropIns: [String: String] = [:]
        for folder in folders.reversed().map({ "\($0)/\(name).d" }) {
            for file in (try? FileSystem.names(inFolder: folder)) ?? [] where file.hasSuffix(".conf") {
                dropIns[file] = "\(folder)/\(file)"
            }
        }
        return ServiceUnit(texts: [main] + dropIns.sorted { $0.key < $1.key }.compactMap { text($0.value) })
    }
}

extension Substring {
    fileprivate var trimmed: String { String(trimming(\.isWhitespace)) }
}
