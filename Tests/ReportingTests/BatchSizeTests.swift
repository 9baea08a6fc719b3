import Testing

@testable import Reporting

@Suite struct BatchSizes {
    /// The durations of full batches in milliseconds, and the limit after each.
    @Test(arguments: [
        ([100, 100, 100, 100], [16, 32, 50, 50]), ([800, 999, 1000], [8, 8, 8]), ([1001], [7]),
        ([2000], [5]), ([9000, 7000], [5, 5]), ([100, 100, 4000, 100, 500, 640], [16, 32, 8, 16, 25, 31]),
    ])
    func followTheDurationOfUploads(milliseconds: [Int], limits: [Int]) {
        var size = BatchSize(maximum: 50)
        let seen = milliseconds.map { took in
            size.didDeliver(past: size.limit, took: .milliseconds(took))
            return size.limit
        }
        #expect(seen == limits)
    }

    /// The number of past locations and the duration in milliseconds of each delivery, and the limit after it. A server
    /// that is slow for any size gets full batches, even after an abort.
    @Test(
        arguments: [
            ([(8, 12_000), (5, 12_010), (20, 11_800), (50, 12_000)], [5, 20, 50, 50]),
            ([(0, 12_000), (8, 12_100), (32, 12_000)], [8, 32, 50]),
            // A slow link, and a server that is fast again.
            ([(0, 900), (8, 2300), (5, 1700)], [8, 5, 5]), ([(8, 12_000), (5, 12_000), (20, 400)], [5, 20, 40]),
        ] as [([(Int, Int)], [Int])])
    func growWhenOnlyTheServerIsSlow(deliveries: [(Int, Int)], limits: [Int]) {
        var size = BatchSize(maximum: 50)
        let seen = deliveries.map { past, milliseconds in
            size.didDeliver(past: past, took: .milliseconds(milliseconds))
            return size.limit
        }
        #expect(seen == limits)
    }

    /// A batch smaller than a light batch isn't noticeably faster, so a slow server gets light batches.
    @Test func growToALightBatchAtAnyDuration() {
        var size = BatchSize(maximum: 50)
        size.recordRejectedUpdate()
        size.didReject(past: 2, minimum: 1)
        size.recordRejectedUpdate()
        let limits = [8000, 9000, 6000, 9000].map { took in
            size.didDeliver(past: size.limit, took: .milliseconds(took))
            return size.limit
        }
        #expect(limits == [2, 4, 5, 5])
    }

    @Test func stayUnchangedAfterABatchThatWasNotFull() {
        var size = BatchSize(maximum: 50)
        size.didDeliver(past: 7, took: .milliseconds(10))
        #expect(size.limit == 8)
        // The slow delivery of a single live position says nothing about batches.
        size.didDeliver(past: 0, took: .seconds(9))
        #expect(size.limit == 8)
    }

    @Test(arguments: [1, 3, 8, 500]) func neverExceedTheirMaximum(maximum: Int) {
        var size = BatchSize(maximum: maximum)
        #expect(size.limit == min(8, maximum))
        for _ in 0..<10 { size.didDeliver(past: size.limit, took: .zero) }
        #expect(size.limit == maximum)
        size.didAbort(past: maximum)
        size.didDeliver(past: 0, took: .zero)
        #expect(size.limit <= maximum)
    }

    /// The server accepts at most 30 past locations, which isn't known beforehand.
    @Test func findAnUnpublishedLimitAndStayBelowIt() {
        var size = BatchSize(maximum: 500)
        var rejections: [Int] = []
        for request in 0..<200 {
            if size.limit <= 30 {
                size.didDeliver(past: size.limit, took: .milliseconds(10))
            } else {
                rejections.append(request)
                size.didReject(past: size.limit, minimum: 0)
            }
        }
        #expect((28...30).contains(size.limit))
        // The limit is found once, and tested again a hundred batches later.
        #expect(
            rejections.count <= 12 && rejections.allSatisfy { $0 < 30 || (100..<140).contains($0) }, "\(rejections)")
    }

    @Test func areSmallAfterAFailure() {
        var size = BatchSize(maximum: 50)
        for _ in 0..<5 { size.didDeliver(past: size.limit, took: .zero) }
        size.forgetDeliveries()
        #expect(size.limit == 8)
        size.startProbing()
        size.startProbing()
        #expect(size.limit == 0)
        size.didDeliver(past: 0, took: .zero)
        #expect(size.limit == 8)
        let limits = [8, 4, 4, 0].map { past in
            size.didGetNoAnswer(past: past)
            return size.limit
        }
        #expect(limits == [4, 4, 4, 4])
    }
}
