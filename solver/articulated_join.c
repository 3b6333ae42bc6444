/* The join of two sub-assemblies: for any processor, and the choice of the faster one. */
#define JOIN(name) name##_plain
#include "solver/articulated_join_code.h"

HR_RT static inline bool has_avx(void)
{
#if JOIN_HAS_AVX
    return __builtin_cpu_supports("avx"); /* looks at a number that was set before main */
#else
    return false;
#endif
}

void join_factor(const join_joint *j, const join_data *a, const join_data *b, join_data *c)
{
    if (has_avx())
        join_factor_avx(j, a, b, c);
    else
        join_factor_plain(j, a, b, c);
}

void join_bias(const join_joint *j, const join_data *a, const join_data *b, const vec6 *coriolis,
               const double *tau, join_data *c)
{
    if (has_avx())
        join_bias_avx(j, a, b, coriolis, tau, c);
    else
        join_bias_plain(j, a, b, coriolis, tau, c);
}

vec6 join_solve(const join_joint *j, const join_data *c, double *qdd, vec6 a_forces[2],
                vec6 b_forces[2])
{
    return has_avx() ? join_solve_avx(j, c, qdd, a_forces, b_forces)
                     : join_solve_plain(j, c, qdd, a_forces, b_forces);
}
