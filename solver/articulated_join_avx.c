/* The join of two sub-assemblies for processors with AVX: instructions with three operands save the
 * copies. Elsewhere the functions exist but are the plain ones. */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx"))), apply_to = function)
#else
#pragma GCC target("avx")
#endif
#endif

#define JOIN(name) name##_avx
#include "solver/articulated_join_code.h"

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
