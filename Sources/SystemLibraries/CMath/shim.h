#pragma once

// The C library's mathematics and nothing else of it: no input, no output, no platform.
static inline double cmath_cos(double radians) { return __builtin_cos(radians); }
static inline double cmath_sin(double radians) { return __builtin_sin(radians); }
static inline double cmath_asin(double sine) { return __builtin_asin(sine); }
static inline double cmath_atan2(double y, double x) { return __builtin_atan2(y, x); }
