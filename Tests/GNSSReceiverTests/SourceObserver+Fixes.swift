import GNSS
import LocationReporting
import TimeAndChance
import WaypostTestSupport

extension SourceObserver {
    /// The second of the minute of the next fix; `nil` when the source ends before.
    func second() async -> Int? { await nextFix().map { $0.timeOfFix.millisecondOfDay / 1000 % 60 } }

    /// The next fix; `nil` when the source ends before.
    func nextFix() async -> Fix? {
        guard case .fix(let fix)? = await fix() else { return nil }
        return fix
    }
}
