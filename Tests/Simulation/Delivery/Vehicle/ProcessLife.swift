/// Whether a process is alive and its machine has power. Actions of a dead process have no effect.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
final class ProcessLife: @unchecked Sendable {
    var isAlive = true
}
