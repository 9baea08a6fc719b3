import LinuxPlatform

extension Arguments {
    /// The value of an option that is an address to listen on.
    func address(_ name: String, default fallback: String, command: String) throws(UsageError) -> LocalAddress {
        let text = value(name) ?? fallback
        do { return try LocalAddress(text) } catch {
            throw UsageError("\(name) is \"\(text)\", which \(error)", command: command)
        }
    }
}
