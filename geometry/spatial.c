#include "geometry/spatial.h"

HR_RT vec6 vec6_cross_motion(vec6 v, vec6 m)
{
    vec3 w = vec6_angular(v);
    vec3 u = vec6_linear(v);
    vec3 angular = vec6_angular(m);
    vec3 linear = vec6_linear(m);
    return vec6_make(vec3_cross(w, angular),
                     vec3_add(vec3_cross(u, angular), vec3_cross(w, linear)));
}

HR_RT vec6 vec6_cross_force(vec6 v, vec6 f)
{
    vec3 w = vec6_angular(v);
    vec3 u = vec6_linear(v);
    vec3 moment = vec6_angular(f);
    vec3 force = vec6_linear(f);
    return vec6_make(vec3_add(vec3_cross(w, moment), vec3_cross(u, force)), vec3_cross(w, force));
}

HR_RT mat6 mat6_identity(void)
{
    mat6 a = {{{0}}};
    for (int i = 0; i < 6; i++)
        a.m[i][i] = 1;
    return a;
}

HR_RT vec6 mat6_apply(const mat6 *a, vec6 v)
{
    vec6 out;
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++)
            sum += a->m[i][j] * v.v[j];
        out.v[i] = sum;
    }
    return out;
}

HR_RT vec6 mat6_apply_transposed(const mat6 *a, vec6 v)
{
    vec6 out = {{0}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            out.v[j] += a->m[i][j] * v.v[i];
    return out;
}

HR_RT void mat6_multiply(const mat6 *a, const mat6 *b, mat6 *out)
{
    mat6 c;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            double sum = 0;
            for (int k = 0; k < 6; k++)
                sum += a->m[i][k] * b->m[k][j];
            c.m[i][j] = sum;
        }
    }
    *out = c;
}

HR_RT void mat6_add(const mat6 *a, const mat6 *b, mat6 *out)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            out->m[i][j] = a->m[i][j] + b->m[i][j];
}

HR_RT void mat6_transpose(const mat6 *a, mat6 *out)
{
    mat6 c;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            c.m[i][j] = a->m[j][i];
    *out = c;
}

/* Lower triangle L with a = L L^T; false when a pivot is not positive. */
HR_RT static bool cholesky(const mat6 *a, double lower[6][6])
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a->m[i][j];
            for (int k = 0; k < j; k++)
                sum -= lower[i][k] * lower[j][k];
            if (i != j)
                lower[i][j] = sum / lower[j][j];
            else if (sum > 0 && isfinite(sum))
                lower[i][i] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

HR_RT hr_status mat6_inverse_spd(const mat6 *a, mat6 *out)
{
    double lower[6][6];
    if (!cholesky(a, lower))
        return HR_ERR_SINGULAR;

    /* inverse of L, column by column */
    double inverse[6][6] = {{0}};
    for (int j = 0; j < 6; j++) {
        inverse[j][j] = 1.0 / lower[j][j];
        for (int i = j + 1; i < 6; i++) {
            double sum = 0;
            for (int k = j; k < i; k++)
                sum -= lower[i][k] * inverse[k][j];
            inverse[i][j] = sum / lower[i][i];
        }
    }

    /* a^-1 = L^-T L^-1 */
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = i; k < 6; k++)
                sum += inverse[k][i] * inverse[k][j];
            out->m[i][j] = sum;
            out->m[j][i] = sum;
        }
    }
    return HR_OK;
}

HR_RT mat6 mat6_inertia(double mass, vec3 centre, mat3 inertia_at_centre)
{
    mat3 c = mat3_skew(centre);
    mat3 shift = mat3_scale(-mass, mat3_multiply(c, c));
    mat3 rotational = mat3_add(inertia_at_centre, shift);
    mat6 out = {{{0}}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.m[i][j] = rotational.m[i][j];
            out.m[i][j + 3] = mass * c.m[i][j];
            out.m[i + 3][j] = -mass * c.m[i][j];
        }
        out.m[i + 3][i + 3] = mass;
    }
    return out;
}

HR_RT rigid rigid_from_pose(pose a_from_b)
{
    return (rigid){quat_to_mat3(a_from_b.rotation), a_from_b.origin};
}

HR_RT pose rigid_to_pose(const rigid *a_from_b)
{
    return (pose){quat_from_mat3(a_from_b->rotation), a_from_b->origin};
}

HR_RT rigid rigid_compose(const rigid *a_from_b, const rigid *b_from_c)
{
    return (rigid){mat3_multiply(a_from_b->rotation, b_from_c->rotation),
                   rigid_apply(a_from_b, b_from_c->origin)};
}

HR_RT rigid rigid_inverse(const rigid *a_from_b)
{
    vec3 origin = mat3_apply_transposed(a_from_b->rotation, a_from_b->origin);
    return (rigid){mat3_transpose(a_from_b->rotation), vec3_negate(origin)};
}

HR_RT vec6 rigid_motion_to_b(const rigid *a_from_b, vec6 motion_a)
{
    vec3 w = vec6_angular(motion_a);
    vec3 u = vec3_add(vec6_linear(motion_a), vec3_cross(w, a_from_b->origin));
    return vec6_make(mat3_apply_transposed(a_from_b->rotation, w),
                     mat3_apply_transposed(a_from_b->rotation, u));
}

HR_RT vec6 rigid_motion_to_a(const rigid *a_from_b, vec6 motion_b)
{
    vec3 w = mat3_apply(a_from_b->rotation, vec6_angular(motion_b));
    vec3 u = mat3_apply(a_from_b->rotation, vec6_linear(motion_b));
    return vec6_make(w, vec3_sub(u, vec3_cross(w, a_from_b->origin)));
}

HR_RT vec6 rigid_force_to_a(const rigid *a_from_b, vec6 force_b)
{
    vec3 n = mat3_apply(a_from_b->rotation, vec6_angular(force_b));
    vec3 f = mat3_apply(a_from_b->rotation, vec6_linear(force_b));
    return vec6_make(vec3_add(n, vec3_cross(a_from_b->origin, f)), f);
}

HR_RT void rigid_motion_matrix(const rigid *a_from_b, mat6 *b_from_a_motion)
{
    mat3 rt = mat3_transpose(a_from_b->rotation);
    mat3 lever = mat3_scale(-1.0, mat3_multiply(rt, mat3_skew(a_from_b->origin)));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            b_from_a_motion->m[i][j] = rt.m[i][j];
            b_from_a_motion->m[i][j + 3] = 0;
            b_from_a_motion->m[i + 3][j] = lever.m[i][j];
            b_from_a_motion->m[i + 3][j + 3] = rt.m[i][j];
        }
    }
}
