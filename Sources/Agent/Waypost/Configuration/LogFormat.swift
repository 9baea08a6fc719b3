/// How a log line is written.
package enum LogFormat: String, Sendable, Hashable, CaseIterable { case text, json }
