// What the runtime of Debian's Swift, made with a newer glibc, asks for and the glibc 2.36 of Debian 12 does not have.
// Hidden: for what is linked into the binary, never for the shared libraries beside it.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR_THE_RUNTIME __attribute__((visibility("hidden")))

// Since 2.38 these are the names of functions that also read binary numbers ("0b1"), which the runtime does not need.
FOR_THE_RUNTIME long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
FOR_THE_RUNTIME long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
FOR_THE_RUNTIME int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list places;
    va_start(places, format);
    const int count = vsscanf(text, format, places);
    va_end(places);
    return count;
}

// New in 2.38: copies what fits with an end of its own, and tells the length that it would have had.
FOR_THE_RUNTIME size_t strlcpy(char *to, const char *from, size_t size) {
    const size_t length = strlen(from);
    if (size > 0) {
        const size_t count = length < size ? length : size - 1;
        memcpy(to, from, count);
        to[count] = 0;
    }
    return length;
}
