// The functions that the runtime of Debian's Swift, built with a newer glibc, needs and the glibc 2.36 of Debian 12 lacks.
// They are hidden, so that only code linked into the binary uses them, never a shared library.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR_THE_RUNTIME __attribute__((visibility("hidden")))

// Since 2.38, these are the names of functions that also read binary numbers ("0b1"), which the runtime doesn't need.
FOR_THE_RUNTIME long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
FOR_THE_RUNTIME long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
FOR_THE_RUNTIME int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list places;
    va_start(places, format);
    const int count = vsscanf(text, format, places);
    va_end(places);
    return count;
}

// New in 2.38: copies what fits, adds a terminating zero, and returns the length of the whole text.
FOR_THE_RUNTIME size_t strlcpy(char *to, const char *from, size_t size) {
    const size_t length = strlen(from);
    if (size > 0) {
        const size_t count = length < size ? length : size - 1;
        memcpy(to, from, count);
        to[count] = 0;
    }
    return length;
}
