#pragma once
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

// EVP_RSA_gen is a macro over a variadic function. Swift can call neither.
static inline EVP_PKEY *_Nullable ccrypto_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }
