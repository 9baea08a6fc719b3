#include "CByteLoop.h"

#include <dlfcn.h>

CByteLoopParser cbyteloop_minmea(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? (CByteLoopParser)dlsym(library, "minmea_loop") : NULL;
}
