#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Swift can't call variadic functions. One function per argument type also restores type checking.
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
// Copies the number of bytes that CURLOPT_POSTFIELDSIZE_LARGE has set before.
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

// The callbacks for a connection's socket. One is called before the socket is connected; the other must close it.
typedef int (*ccurl_socket_callback)(void *_Nullable context, curl_socket_t socket, curlsocktype purpose);
typedef int (*ccurl_close_callback)(void *_Nullable context, curl_socket_t socket);
static inline CURLcode ccurl_set_socket_callback(CURL *_Nonnull easy, ccurl_socket_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}
static inline CURLcode ccurl_set_close_callback(CURL *_Nonnull easy, ccurl_close_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

// The callback for the TLS library's context, an SSL_CTX, of a new connection.
typedef CURLcode (*ccurl_tls_callback)(void *_Nullable easy, void *_Nullable context, void *_Nullable observer);
static inline CURLcode ccurl_set_tls_callback(CURL *_Nonnull easy, ccurl_tls_callback _Nonnull callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

// Sets the time after which the kernel closes a connection whose sent bytes or probes aren't acknowledged, and the idle
// time after which it sends a probe (tcp(7)). Without these limits, a connection that died silently is reused for a
// quarter of an hour. If the kernel doesn't know an option, the connection stays usable.
static inline void ccurl_watch_connection(
    curl_socket_t socket, unsigned int unacknowledgedMilliseconds, int idleSeconds, int intervalSeconds) {
    (void)setsockopt(
        socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledgedMilliseconds, sizeof unacknowledgedMilliseconds);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &intervalSeconds, sizeof intervalSeconds);
    (void)setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idleSeconds, sizeof idleSeconds);
}

// Whether a socket, which may not be connected yet, uses IPv6.
static inline bool ccurl_is_ipv6(curl_socket_t socket) {
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_INET6;
}

// Aborts a connection and discards its data in the kernel (connect(2), AF_UNSPEC). The socket stays open.
static inline void ccurl_abort_connection(curl_socket_t socket) {
    struct sockaddr nobody = { .sa_family = AF_UNSPEC };
    if (connect(socket, &nobody, sizeof nobody) != 0) (void)shutdown(socket, SHUT_RDWR);
}

// Returns the number of bytes received on a connection, read or not; zero before Linux 4.1. The C library's tcp_info
// ends before this field, whose offset is part of the kernel's ABI.
static inline uint64_t ccurl_bytes_received(curl_socket_t socket) {
    struct { char before[128]; uint64_t bytes_received; } info = { { 0 }, 0 };
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return 0;
    return info.bytes_received;
}

static inline CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO information, long *_Nonnull value) {
    return curl_easy_getinfo(easy, information, value);
}
// Returns the address family of the server's end of the connection: AF_INET, AF_INET6, or zero without a connection.
static inline int ccurl_remote_family(CURL *_Nonnull easy) {
    const char *address = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address) != CURLE_OK || !address || !*address) return 0;
    return strchr(address, ':') ? AF_INET6 : AF_INET;
}
static inline CURLcode ccurl_get_size(CURL *_Nonnull easy, CURLINFO information, curl_off_t *_Nonnull value) {
    return curl_easy_getinfo(easy, information, value);
}

// Returns the data of the server's certificates, which the handle owns; null if the handle wasn't told to keep them.
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
// Returns the result of a finished transfer, which is in a union and so harder to read in Swift.
static inline CURLcode ccurl_message_result(const CURLMsg *_Nonnull message) { return message->data.result; }

// Allows only http and https. libcurl 7.85 replaced the bit mask with a list of names.
static inline CURLcode ccurl_restrict_protocols(CURL *_Nonnull easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
// Without this option (libcurl before 7.87), removing a transfer blocks all transfers until its name lookup ends.
static inline CURLcode ccurl_abandon_name_lookups(CURL *_Nonnull easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    return CURLE_OK;
#endif
}

// Whether CURLINFO_REQUEST_SIZE includes the sent part of the body, which CURLINFO_SIZE_UPLOAD_T always counts. It does
// since libcurl 8.7. Earlier versions include the body only if they append it to the header lines: over HTTP/1, below
// 64 KiB (MAX_INITIAL_POST_SIZE). The version is that of the loaded library.
static inline int ccurl_request_size_has_body(int is_http_1, size_t body) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080700 || (is_http_1 && body < 64 * 1024);
}

// Macros that Swift doesn't import.
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
