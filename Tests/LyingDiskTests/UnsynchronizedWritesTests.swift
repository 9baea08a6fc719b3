import Testing
import TimeAndRandomness

@testable import LyingDisk

@Suite struct UnsynchronizedWrites {
    private let oldContents = [UInt8](repeating: 1, count: 2048)

    private func contentsAfterPowerCut(
        _ history: FileHistory, from contents: [UInt8], keeping share: Double, seed: UInt64 = 1
    ) -> [UInt8] {
        var chance = SplitMix64(seed: seed)
        return history.contentsAfterPowerCut(from: contents, keeping: share, using: &chance)
    }

    @Test func areKeptOnceSynchronized() {
        var history = FileHistory(size: 2048)
        history.write([2, 2], at: 10, over: [1, 1])
        history.synchronize()
        var contents = oldContents
        contents.replaceSubrange(10..<12, with: [2, 2])
        #expect(history.isDurable)
        #expect(contentsAfterPowerCut(history, from: contents, keeping: 0) == contents)
    }

    @Test func areKeptOrLostSectorBySector() {
        var history = FileHistory(size: 2048)
        history.write([UInt8](repeating: 2, count: 2048), at: 0, over: oldContents)
        history.write([3], at: 0, over: [2])  // only the last write is torn
        var contents = [UInt8](repeating: 2, count: 2048)
        contents[0] = 3
        var seen: Set<[UInt8]> = []
        for seed in 1...64 as ClosedRange<UInt64> {
            let shown = contentsAfterPowerCut(history, from: contents, keeping: 0.5, seed: seed)
            #expect(shown.count == 2048)
            for sector in 0..<4 {
                let bytes = shown[sector * 512 + 1..<(sector + 1) * 512]
                #expect(Set(bytes).count == 1, "a sector is old or new")
            }
            seen.insert(shown)
        }
        #expect(seen.count > 16)
        #expect(
            contentsAfterPowerCut(history, from: contents, keeping: 0, seed: 3).dropFirst() == oldContents.dropFirst())
    }

    @Test func areTornWithinOneSectorOfTheLastWrite() {
        var history = FileHistory(size: 512)
        history.write([UInt8](repeating: 2, count: 512), at: 0, over: [UInt8](repeating: 1, count: 512))
        let contents = [UInt8](repeating: 2, count: 512)
        let counts = (1...32 as ClosedRange<UInt64>).map { seed in
            let shown = contentsAfterPowerCut(history, from: contents, keeping: 0.5, seed: seed)
            let count = shown.prefix { $0 == 2 }.count
            #expect(shown.dropFirst(count).allSatisfy { $0 == 1 })
            return count
        }
        #expect(Set(counts).count > 16)
    }

    @Test func mayLeaveTheFileAtItsOldSize() {
        var history = FileHistory(size: 0)
        history.write([UInt8](repeating: 2, count: 1024), at: 0, over: [])
        let contents = [UInt8](repeating: 2, count: 1024)
        #expect(contentsAfterPowerCut(history, from: contents, keeping: 0).isEmpty)
        #expect(contentsAfterPowerCut(history, from: contents, keeping: 1).count == 1024)
        let sizes = Set(
            (1...32 as ClosedRange<UInt64>).map {
                contentsAfterPowerCut(history, from: contents, keeping: 0.5, seed: $0).count
            })
        #expect(sizes == [0, 1024])
    }

    @Test func truncatedBytesReturnIfTheTruncationIsLost() {
        var history = FileHistory(size: 2048)
        history.truncate(to: 100, tail: Array(oldContents[100...]))
        #expect(contentsAfterPowerCut(history, from: Array(oldContents[..<100]), keeping: 0) == oldContents)
        #expect(
            contentsAfterPowerCut(history, from: Array(oldContents[..<100]), keeping: 1) == Array(oldContents[..<100]))
    }

    /// After a failed sync, the next one succeeds and writes only later data.
    @Test func areDiscardedByAFailedSync() {
        var history = FileHistory(size: 1024)
        var contents = [UInt8](repeating: 1, count: 1024)
        history.write([2], at: 0, over: [1])
        history.abandon()
        history.write([3], at: 600, over: [1])
        history.synchronize()
        (contents[0], contents[600]) = (2, 3)
        let shown = contentsAfterPowerCut(history, from: contents, keeping: 0)
        #expect(shown[0] == 1)
        #expect(shown[600] == 3)
    }
}
