import CLinux

/// How many files and sockets this process may have open.
package enum DescriptorLimit {
    /// Raises what is allowed to `count`, as far as the system's administrator lets a process; gives what is allowed
    /// then.
    package static func raise(to count: Int) -> Int { clinux_raise_descriptor_limit(count) }
}
