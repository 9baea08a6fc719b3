import LinuxPlatform
import Testing

@Suite struct LockedValue {
    @Test func losesNoChangeUnderContention() async {
        let count = Locked(0)
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    await onThread(named: "contender-\(number)") {
                        for _ in 0..<20_000 { count.withLock { $0 += 1 } }
                    }
                }
            }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test func isReleasedWhenTheBodyThrows() {
        let value = Locked(1)
        #expect(throws: SystemError.self) {
            try value.withLock { (_: inout Int) throws(SystemError) in throw SystemError(call: "x", number: 1) }
        }
        #expect(value.withLock { $0 } == 1)
    }
}
