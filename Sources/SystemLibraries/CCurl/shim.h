#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Swift cannot call variadic functions; one function per argument type also restores type checking.
static inline CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_size(CURL *_Nonnull easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nonnull value) {
    return curl_easy_setopt(easy, option, value);  // libcurl keeps its own copy
}
static inline CURLcode ccurl_clear_string(CURL *_Nonnull easy, CURLoption option) {
    return curl_easy_setopt(easy, option, NULL);
}
// The bytes are copied, as many as CURLOPT_POSTFIELDSIZE_LARGE said before.
static inline CURLcode ccurl_set_body(CURL *_Nonnull easy, const void *_Nonnull bytes) {
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes);
}
static inline CURLcode ccurl_set_list(CURL *_Nonnull easy, CURLoption option, struct curl_slist *_Nullable list) {
    return curl_easy_setopt(easy, option, list);
}
static inline CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable pointer) {
    return curl_easy_setopt(easy, option, pointer);
}

// One function per callback type; the header callback has the same type as the write callback.
typedef size_t (*ccurl_write_callback)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
typedef int (*ccurl_ready_callback)(
    void *_Nullable context, char *_Nullable remoteAddress, char *_Nullable localAddress, int remotePort, int localPort);

static inline CURLcode ccurl_set_write_callback(
    CURL *_Nonnull easy, CURLoption option, ccurl_write_callback _Nonnull callback) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode ccurl_set_ready_callback(CURL *_Nonnull easy, ccurl_ready_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

// What happens to a connection's socket: it was made and is about to be connected; it is to be closed.
typedef int (*ccurl_socket_callback)(void *_Nullable context, curl_socket_t socket, curlsocktype purpose);
typedef int (*ccurl_close_callback)(void *_Nullable context, curl_socket_t socket);
static inline CURLcode ccurl_set_socket_callback(CURL *_Nonnull easy, ccurl_socket_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}
static inline CURLcode ccurl_set_close_callback(CURL *_Nonnull easy, ccurl_close_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

// How long sent bytes or probes may stay without acknowledgement before the kernel closes the connection, and how long
// nothing comes before it sends a probe (tcp(7)). Without it a connection that died silently is used again and again for
// a quarter of an hour. A kernel that doesn't know an option leaves the connection usable.
static inline void ccurl_watch_connection(
    curl_socket_t socket, unsigned int unacknowledgedMilliseconds, int idleSeconds, int intervalSeconds) {
    (void)setsockopt(
        socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledgedMilliseconds, sizeof unacknowledgedMilliseconds);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &intervalSeconds, sizeof intervalSeconds);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idleSeconds, sizeof idleSeconds);
}

// Whether a socket, which may not be connected yet, is of IPv6.
static inline bool ccurl_is_ipv6(curl_socket_t socket) {
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_INET6;
}

// Ends a connection at once, with all that the kernel still has of it (connect(2), AF_UNSPEC); the socket stays open.
static inline void ccurl_abort_connection(curl_socket_t socket) {
    struct sockaddr nobody = { .sa_family = AF_UNSPEC };
    if (connect(socket, &nobody, sizeof nobody) != 0) (void)shutdown(socket, SHUT_RDWR);
}

// How many bytes have come on a connection, whatever became of them; zero before Linux 4.1. The C library's tcp_info
// ends before this field, which stands where it stands for good.
static inline uint64_t ccurl_bytes_received(curl_socket_t socket) {
    struct { char before[128]; uint64_t bytes_received; } info = { { 0 }, 0 };
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return 0;
    return info.bytes_received;
}

static inline CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO information, long *_Nonnull value) {
    return curl_easy_getinfo(easy, information, value);
}
// The address family of the server's end of the connection, AF_INET or AF_INET6; zero if there has been none.
static inline int ccurl_remote_family(CURL *_Nonnull easy) {
    const char *address = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address) != CURLE_OK || !address || !*address) return 0;
    return strchr(address, ':') ? AF_INET6 : AF_INET;
}
static inline CURLcode ccurl_get_size(CURL *_Nonnull easy, CURLINFO information, curl_off_t *_Nonnull value) {
    return curl_easy_getinfo(easy, information, value);
}

// What the server's certificates say, which belongs to the handle; null where it was not asked to keep that.
static inline const struct curl_certinfo *_Nullable ccurl_get_certificates(CURL *_Nonnull easy) {
    struct curl_certinfo *certificates = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &certificates) != CURLE_OK) return NULL;
    return certificates;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLSHcode ccurl_share_set_long(CURLSH *_Nonnull share, CURLSHoption option, int value) {
    return curl_share_setopt(share, option, value);
}
// The result of a finished transfer sits in a union, which Swift reads less clearly.
static inline CURLcode ccurl_message_result(const CURLMsg *_Nonnull message) { return message->data.result; }

// Only http and https, ever. 7.85 replaced the bit mask by a list of names.
static inline CURLcode ccurl_restrict_protocols(CURL *_Nonnull easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
// Without it (before 7.87), removing a transfer waits for its name lookup, and every other transfer with it.
static inline CURLcode ccurl_abandon_name_lookups(CURL *_Nonnull easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    return CURLE_OK;
#endif
}

// Whether CURLINFO_REQUEST_SIZE has what was sent of the body, which CURLINFO_SIZE_UPLOAD_T has in any case. Since 8.7 it
// always has; before, where the body was appended to the header lines: over HTTP/1, below 64 KiB (MAX_INITIAL_POST_SIZE).
// Asked of the library that is loaded.
static inline int ccurl_request_size_has_body(int is_http_1, size_t body) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080700 || (is_http_1 && body < 64 * 1024);
}

// Macros that Swift does not import.
static inline CURLcode ccurl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
static const long ccurl_http_version_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long ccurl_answered_http_2 = CURL_HTTP_VERSION_2_0;
static const long ccurl_tls_1_2_or_newer = CURL_SSLVERSION_TLSv1_2;
static const long ccurl_basic_authentication = CURLAUTH_BASIC;
static const long ccurl_headers_to_server_only = CURLHEADER_SEPARATE;
static const long ccurl_ipv4_only = CURL_IPRESOLVE_V4;
static const long ccurl_ipv6_only = CURL_IPRESOLVE_V6;
static const long ccurl_multiplex = CURLPIPE_MULTIPLEX;
static const int ccurl_socket_ok = CURL_SOCKOPT_OK;
static const int ccurl_socket_refused = CURL_SOCKOPT_ERROR;
static const int ccurl_prereq_ok = CURL_PREREQFUNC_OK;
