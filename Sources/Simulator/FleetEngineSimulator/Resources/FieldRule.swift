/// What may stand in one field of a message.
struct FieldRule: Sendable {
    /// The JSON forms of protobuf's types, with the range the field's comment states.
    indirect enum Kind: Sendable {
        case string
        case bytes
        case bool
        case int32(ClosedRange<Int64>)
        case double(ClosedRange<Double>)
        case timestamp
        case duration
        /// Names with their numbers; the names in `refused` are known but only the server says them.
        case enumeration([String: Int64], refused: Set<String> = [])
        case message(MessageSchema)
        case list(Kind, maximumCount: Int = 10_000)
        /// Route data that only the navigation SDK sends: an object that is not looked into.
        case route
    }

    /// Who writes and who reads the field.
    enum Direction: Sendable {
        case both
        /// Set by the server: what a client sends is ignored, and a mask may not name it.
        case outputOnly
        /// Never in an answer.
        case inputOnly
    }

    let kind: Kind
    let direction: Direction

    init(_ kind: Kind, _ direction: Direction = .both) { (self.kind, self.direction) = (kind, direction) }

    static let anyInt32: Kind = .int32(Int64(Int32.min)...Int64(Int32.max))
    static let anyDouble: Kind = .double(-Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude)
    /// Metres or degrees of uncertainty.
    static let accuracy: Kind = .double(0...Double.greatestFiniteMagnitude)
    static let compass: Kind = .int32(0...359)
}
