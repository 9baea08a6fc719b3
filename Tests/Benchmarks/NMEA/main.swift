import BenchmarkReport
import CByteLoop
import FoundationEssentials
import GNSS

let megabytes = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 200
let runs = 7
var cases = [BenchmarkInput.generatedDrive(megabytes: megabytes)]
if let recorded = BenchmarkInput.recordedMix(megabytes: megabytes) { cases.append(recorded) }
// scripts/bench builds this if there is a checkout of minmea.
let minmea = unsafe cbyteloop_minmea(ProcessInfo.processInfo.environment["MINMEA_LOOP"] ?? "none")

for input in cases {
    var decode = Measurement("nmea.decode.\(input.name)", against: "a loop in C over the same bytes", atLeast: 0.35)
    var csv = Measurement("nmea.csv.\(input.name)", against: "decoding alone", atLeast: 0.25)
    var parse = Measurement("nmea.beside-minmea.\(input.name)", against: "minmea over the same lines", atLeast: 1)
    for _ in 0..<runs {
        let reference = input.throughput { bytes in
            unsafe bytes.withUnsafeBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return 0 }
                return unsafe cbyteloop_scan(base, buffer.count).sentences
            }
        }
        let decoded = input.throughput { bytes in
            var decoder = NMEADecoder()
            var fixes = 0
            let before = cbyteloop_allocations()
            decoder.decode(bytes, receivedAt: .zero) { _ in fixes += 1 }
            decoder.finish { _ in fixes += 1 }
            let allocations = cbyteloop_allocations() - before
            let sentences = decoder.statistics.sentences
            decode.mallocsPerMillionSentences = Double(allocations) * 1e6 / Double(sentences)
            return fixes
        }
        let written = input.throughput { bytes in
            var decoder = NMEADecoder()
            var rows: [UInt8] = []
            rows.reserveCapacity(1 << 20)
            var total = 0
            decoder.decode(bytes, receivedAt: .zero) { fix in
                CSVFormat.append(fix, to: &rows)
                if rows.count > 1_000_000 {
                    total += rows.count
                    rows.removeAll(keepingCapacity: true)
                }
            }
            return total + rows.count
        }
        decode.megabytesPerSecond.append(decoded)
        decode.referenceMegabytesPerSecond.append(reference)
        csv.megabytesPerSecond.append(written)
        csv.referenceMegabytesPerSecond.append(decoded)
        guard let minmea = unsafe minmea else { continue }
        parse.megabytesPerSecond.append(decoded)
        parse.referenceMegabytesPerSecond.append(
            input.throughput { bytes in
                unsafe bytes.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return 0 }
                    return unsafe minmea(base, buffer.count)
                }
            })
    }
    try decode.print()
    try csv.print()
    if unsafe minmea == nil {
        let reason = "MINMEA names no checkout of minmea, and github.com/kosma/minmea cannot be fetched"
        try BenchmarkCase(parse.name, unit: "MB/s", skipped: reason).print()
    } else {
        try parse.print()
    }
}
