#pragma once
#include <stddef.h>
#include <stdint.h>

/// The counts of the simplest loop: sentences with a correct checksum, and sentences with a wrong one.
typedef struct {
    size_t sentences;
    size_t rejected;
} CByteLoopCounts;

/// Finds sentences by `$` and `!` and verifies checksums, one byte at a time: the reference for the decoder.
CByteLoopCounts cbyteloop_scan(const uint8_t *_Nonnull bytes, size_t count);

/// Returns the number of calls of malloc, calloc, realloc and the aligned variants in this process so far.
uint64_t cbyteloop_allocations(void);

/// Returns the processor time of this thread in seconds, which other programs don't affect.
double cbyteloop_seconds(void);

/// Another parser, which returns the number of sentences in `bytes`.
typedef size_t (*CByteLoopParser)(const uint8_t *_Nonnull bytes, size_t count);

/// Returns the parser in the library at `path`, which scripts/bench builds from a checkout of minmea; null if there is
/// no library.
CByteLoopParser _Nullable cbyteloop_minmea(const char *_Nonnull path);
