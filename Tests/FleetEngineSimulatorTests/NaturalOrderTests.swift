import Testing

@testable import FleetEngineSimulator

@Suite struct NaturalOrders {
    @Test(arguments: [
        ["van-1", "van-2", "van-10", "van-20", "van-100"], ["a", "b", "b1", "b1a", "b2", "b10", "c"], ["07", "7", "8"],
        ["", "0", "00", "1", "a"], ["van-9", "van-99999999999999999999", "van-100000000000000000000"],
        ["a1b2", "a1b10", "a2b1"], ["van", "van-1", "vän"],
    ])
    func compareNumbersByValue(names: [String]) {
        #expect(names.reversed().sorted(by: NaturalOrder.isBefore) == names)
        for (one, other) in zip(names, names.dropFirst()) {
            #expect(NaturalOrder.isBefore(one, other) && !NaturalOrder.isBefore(other, one))
        }
        #expect(names.allSatisfy { !NaturalOrder.isBefore($0, $0) })
    }
}
