/// Where a secret comes from; read anew each time, so that it can be changed while the service runs.
package enum Secret: Sendable, Hashable {
    /// In the configuration itself; meant for values that are no secret.
    case literal(String)
    /// The content of a file, without white space at its end; refused when others may read it.
    case file(String)
    /// An environment variable of this process.
    case environment(String)
}
