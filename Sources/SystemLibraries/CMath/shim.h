#pragma once

// Only the C library's mathematical functions, so that a module that uses them depends on no platform.
static inline double cmath_cos(double radians) { return __builtin_cos(radians); }
static inline double cmath_sin(double radians) { return __builtin_sin(radians); }
static inline double cmath_asin(double sine) { return __builtin_asin(sine); }
static inline double cmath_atan2(double y, double x) { return __builtin_atan2(y, x); }
