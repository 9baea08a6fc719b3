/// A box for a value whose mutating methods a test calls in `#expect`, which accepts only non-mutating expressions.
final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
    func apply<Result>(_ body: (inout Value) -> Result) -> Result { body(&value) }
}
