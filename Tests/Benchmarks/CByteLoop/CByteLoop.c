#include "CByteLoop.h"

#include <time.h>

static int hexDigit(uint8_t byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    return -1;
}

CByteLoopCounts cbyteloop_scan(const uint8_t *bytes, size_t count) {
    CByteLoopCounts counts = {0, 0};
    size_t index = 0;
    while (index < count) {
        if (bytes[index] != '$' && bytes[index] != '!') {
            index++;
            continue;
        }
        uint8_t sum = 0;
        size_t end = index + 1;
        while (end < count && bytes[end] != '*' && bytes[end] != '$' && bytes[end] >= 0x20 && bytes[end] < 0x7F) {
            sum ^= bytes[end++];
        }
        if (end + 2 >= count || bytes[end] != '*') {
            index = end;
            continue;
        }
        int high = hexDigit(bytes[end + 1]), low = hexDigit(bytes[end + 2]);
        if (high >= 0 && low >= 0 && (high << 4 | low) == sum) {
            counts.sentences++;
            index = end + 3;
        } else {
            counts.rejected++;
            index = end + 1;
        }
    }
    return counts;
}

double cbyteloop_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
