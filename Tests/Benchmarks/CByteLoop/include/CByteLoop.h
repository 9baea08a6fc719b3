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
