#pragma once
#include <zlib.h>

// inflateInit2 is a macro over a versioned function; 15 + 32 detects gzip and zlib headers.
static inline int czlib_inflate_init(z_stream *_Nonnull stream) {
    return inflateInit2(stream, 15 + 32);
}
