#pragma once
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

// A macro over a variadic function, neither of which Swift can call.
static inline EVP_PKEY *_Nullable ccrypto_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }
