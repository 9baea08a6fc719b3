import CLinux
import Glibc

/// What a program sets right before anything else, whoever started it and however.
///
/// For the command alone: it changes what belongs to the whole process, which in an app is the app's.
package enum ProcessStart {
    /// To be called first in `main`, before any thread exists and before any library reads the environment.
    ///
    /// May end the process, with one line of words, when it cannot do its work at all.
    package static func prepare() {
        occupyStandardDescriptors()
        if UnwantedVariable.clearEnvironment() { startAnew() }
        signal(SIGCHLD, SIG_DFL)  // inherited as well: ignored, the endings of programs would be lost
        StartNeeds.require()
        ChildTable.allowAdoption()
    }

    /// Opens `/dev/null` in the place of standard descriptors that are closed; otherwise a socket or the database would
    /// be given their numbers, and log lines would be written into it.
    static func occupyStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one. A folder that may be neither read nor written is as good a place.
            if unsafe open("/dev/null", O_RDWR) < 0 { _ = unsafe open("/", O_RDONLY | O_DIRECTORY) }
        }
    }

    /// Starts the program again in its own place: the loader, the allocator and libraries have read the environment
    /// before `main`. Where that cannot be done, what is read later is held off nevertheless.
    private static func startAnew() {
        // Not /proc/self/exe itself, by which the process would be called `exe`.
        guard let path = FileSystem.linkTarget(at: "/proc/self/exe") else { return }
        _ = unsafe execv(path, CommandLine.unsafeArgv)
    }
}
