#pragma once
#include <stddef.h>
#include <stdint.h>

/// What the plainest loop finds: sentences with a right checksum, and with a wrong one.
typedef struct {
    size_t sentences;
    size_t refused;
} CByteLoopCounts;

/// Frames on `$` and `!` and checks sums, a byte at a time, and does nothing else: the yardstick of the decoder.
CByteLoopCounts cbyteloop_scan(const uint8_t *_Nonnull bytes, size_t count);

/// Calls of malloc, calloc, realloc and the aligned kinds so far in this process.
uint64_t cbyteloop_allocations(void);

/// Time that this thread has had on a processor; what other programs do does not count.
double cbyteloop_seconds(void);

/// How many sentences another parser finds in those bytes.
typedef size_t (*CByteLoopParser)(const uint8_t *_Nonnull bytes, size_t count);

/// The parser of the library at `path`, which scripts/bench builds of a checkout of minmea; null without it.
CByteLoopParser _Nullable cbyteloop_minmea(const char *_Nonnull path);
