import CZlib
import FoundationEssentials
import Testing
import WaypostTestSupport

/// Returns `bytes` as one member of a gzip archive, made with a file in `directory`.
func gzip(_ bytes: some Sequence<UInt8>, in directory: TemporaryDirectory) throws -> [UInt8] {
    let path = directory.path("member.gz")
    let file = unsafe gzopen(path, "wb")
    try #require(unsafe file != nil)
    let bytes = Array(bytes)
    unsafe gzwrite(file, bytes, UInt32(bytes.count))
    unsafe gzclose(file)
    return Array(try Data(contentsOf: URL(filePath: path)))
}
