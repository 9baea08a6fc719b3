import LinuxPlatform
import Reporting

extension OutboxError {
    /// Says which file it is, what happened, and what to do.
    ///
    /// - Parameters:
    ///   - error: what went wrong.
    ///   - repairsDamage: whether damage is repaired here; a tool leaves that to the service.
    init(_ error: StoreError, repairsDamage: Bool = true) {
        let sentence = repairsDamage ? error.sentence : error.sentenceOfTool ?? error.sentence
        var holder: String?
        if case .locked(let process) = error.kind { holder = process.name }
        self.init(error.kind.code, "\(error.path): \(sentence)", holder: holder)
    }
}

extension HoldingProcess? {
    /// The process in a sentence.
    var name: String { self?.description ?? "another process" }
}

extension StoreError.Kind {
    fileprivate var code: OutboxError.Code {
        switch self {
        case .full: .full
        case .newerSchema: .newerSchema
        case .locked: .locked
        case .busy: .busy
        case .damagedAgain: .damaged
        case .damaged, .readOnly, .refused, .forbidden, .unusable: .unusable
        }
    }
}

extension StoreError {
    /// What happened, and what to do.
    fileprivate var sentence: String {
        switch kind {
        case .full: sentenceOfFullDisk
        case .newerSchema:
            """
            written by a newer release (\(reason)); install that release again, or give another outbox path. The file was \
            not changed
            """
        case .locked(let holder):
            "\(reason); stop it first\(holder.map { " (\($0.ending))" } ?? ""), or give another outbox path"
        case .busy:
            """
            another program has locked the outbox (\(reason)); updates are kept in memory and stored once the lock is \
            gone. If that takes long, end the program (fuser -v \(path) names it)
            """
        case .damaged:
            "damaged, and cannot be repaired (\(reason)); check the disk, or give an outbox path on another one"
        case .damagedAgain:
            """
            damaged again after a repair (\(reason)), which is tried again in ten minutes, or at a restart; check the \
            disk, or give an outbox path on another one
            """
        case .readOnly:
            """
            the file system is read-only (\(reason)); if it was not mounted so, the kernel found errors on the disk \
            (journalctl -k): check it and mount it writable again
            """
        case .refused: "the outbox is not used: \(reason)"
        case .unusable, .forbidden:
            """
            the outbox cannot be read or written: \(reason). The path must be a file, in a folder that this user may \
            write, on a sound disk
            """
        }
    }

    private var sentenceOfFullDisk: String {
        let remedy =
            FileSystem.freeFiles(at: FileSystem.parent(of: path)) == 0
            ? "no inodes are left (\(reason)); remove files from this file system (df -i)"
            : "no space is left (\(reason)); free some on this file system"
        return "\(remedy). What is stored already is safe; nothing else is stored until then"
    }

    /// The sentence of a tool; `nil` if it is the same as the service's.
    fileprivate var sentenceOfTool: String? {
        switch kind {
        case .busy:
            """
            another program has locked the outbox (\(reason)); try again, or end that program (fuser -v \(path) names it)
            """
        case .damaged: "damaged (\(reason)); the service repairs it at its next start"
        case .forbidden: "this user may not read or write the outbox (\(reason)); use sudo"
        case .full, .newerSchema, .locked, .damagedAgain, .readOnly, .refused, .unusable: nil
        }
    }
}
