/// Whether a process is alive and its machine has power. Actions of a dead process have no effect.
///
/// `@unchecked Sendable`: used by the thread of its simulation only.
final class ProcessLife: @unchecked Sendable {
    var isAlive = true
}
