#pragma once
#include <curl/curl.h>

// Swift cannot call variadic functions; one function per argument type also restores type checking.
static inline CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nonnull value) {
    return curl_easy_setopt(easy, option, value);  // libcurl keeps its own copy
}
