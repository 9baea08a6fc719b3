#pragma once

// The C library's mathematics and nothing else of it: no input, no output, no platform.
static inline double cmath_cos(double radians) { return __builtin_cos(radians); }
