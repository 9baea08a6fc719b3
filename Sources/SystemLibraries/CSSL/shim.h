#pragma once
#include <openssl/ssl.h>

// Called for each message that OpenSSL sends or receives (SSL_CTX_set_msg_callback(3)).
typedef void (*cssl_message_callback)(
    int is_sent, int version, int content_type, const void *_Nullable bytes, size_t count, SSL *_Nullable connection,
    void *_Nullable observer);

// Makes OpenSSL call `callback` for each message of the connections made with `context`, an SSL_CTX. The functions that
// set the callback and its argument are a macro and take a pointer that Swift doesn't know.
static inline void cssl_observe_messages(
    void *_Nonnull context, cssl_message_callback _Nonnull callback, void *_Nonnull observer) {
    SSL_CTX_set_msg_callback((SSL_CTX *)context, callback);
    SSL_CTX_set_msg_callback_arg((SSL_CTX *)context, observer);
}
