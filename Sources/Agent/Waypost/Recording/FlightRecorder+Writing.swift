import GNSS
import LinuxPlatform

extension FlightRecorder {
    /// Writes every few seconds until cancelled, and then what is left. A full disk is no reason to stop reporting:
    /// `reportEnd` is told once.
    package func write(_ settings: FlightSettings, reportEnd: @escaping @Sendable (String) -> Void) async {
        let stop: EventDescriptor
        do throws(SystemError) { stop = try EventDescriptor() } catch {
            return reportEnd(Self.ending(settings, error))
        }
        await withTaskCancellationHandler {
            await onThread(named: "flight-recorder") { [self] in
                do throws(SystemError) { try write(settings, unless: stop) } catch {
                    reportEnd(Self.ending(settings, error))
                }
            }
        } onCancel: {
            stop.signal()
        }
    }

    /// Blocks until stopped; gives everything to the disk before it returns.
    func write(_ settings: FlightSettings, unless stop: EventDescriptor) throws(SystemError) {
        let header = FlightFiles.header(at: .system, isSynchronized: UTCTime.synchronizedSystem != nil)
        var files = try FlightFiles(settings, header: header)
        var isStopped = false
        repeat {
            isStopped = try poll(nil, within: FlightSettings.flushInterval, unless: stop) == .stopped
            if let (receiver, lines) = takeBacklog() { try files.write(receiver: receiver, lines: lines) }
        } while !isStopped
    }

    private static func ending(_ settings: FlightSettings, _ error: SystemError) -> String {
        // Our own refusals bring their remedy.
        let remedy =
            error.refusal == nil
            ? "see that there is room and that this user may write, or give --record another folder; " : ""
        return "the run is not recorded in \(settings.folder) any more: \(error); \(remedy)restart to record again; "
            + "reporting goes on"
    }
}
