#include "collide/moving_boxes.h"

/* 512u of the coordinates: sums of at most twelve products (24u), and directions that are longer
 * than 1 because they went through up to fifty rotations, each off by 8u. */
static const double rounding = 512 * 0x1p-53;

/* The cross product of two axes is used down to this sine: rounding grows with its inverse. */
static const double least_sine = 1.0 / 32;

HR_RT static vec3 transform(const taylor_matrix *c, vec3 p)
{
    const double *x = c->m[0], *y = c->m[1], *z = c->m[2];
    return (vec3){x[0] * p.x + x[1] * p.y + x[2] * p.z + x[3],
                  y[0] * p.x + y[1] * p.y + y[2] * p.z + y[3],
                  z[0] * p.x + z[1] * p.y + z[2] * p.z + z[3]};
}

HR_RT static vec3 turn(const taylor_matrix *c, vec3 v)
{
    const double *x = c->m[0], *y = c->m[1], *z = c->m[2];
    return (vec3){x[0] * v.x + x[1] * v.y + x[2] * v.z, y[0] * v.x + y[1] * v.y + y[2] * v.z,
                  z[0] * v.x + z[1] * v.y + z[2] * v.z};
}

/* Root of the sum of squares: bounds the length of the matrix times a vector of length 1. */
HR_RT static double norm(const taylor_matrix *c, int first_column, int end_column)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = first_column; j < end_column; j++)
            sum += c->m[i][j] * c->m[i][j];
    return sqrt(sum) * (1 + rounding);
}

void moving_frame_bound(moving_frame *f)
{
    const taylor *m = &f->a_from_b;
    f->spin = norm(&m->c[1], 0, 3);
    f->spin_rate = norm(&m->c[2], 0, 3);
    f->turn = norm(&m->r, 0, 3);
    f->way = norm(&m->r, 3, 4);
}

void moving_box_place(const moving_frame *f, const obb *b, moving_box *out)
{
    const taylor *m = &f->a_from_b;
    const double h = m->half, e = b->radius;
    out->centre = transform(&m->c[0], b->centre);
    out->velocity = transform(&m->c[1], b->centre);
    out->bend = transform(&m->c[2], b->centre);
    for (int i = 0; i < 3; i++)
        out->axes[i] = turn(&m->c[0], b->axes[i]);
    out->half = b->half;
    out->radius = e;
    out->time = h;
    double doubt = f->turn * (b->distance + e) + f->way;
    out->slack = (h * (f->spin + h * f->spin_rate) * e + doubt) * (1 + rounding);
    double way = h * (vec3_length(out->velocity) + h * vec3_length(out->bend));
    out->travel = (way + out->slack) * (1 + rounding);
    /* |q_j x q_k - q_l| <= 3 rho + rho^2 for axes off by rho, times two half sizes */
    out->skew = f->turn < 0.5 ? 6 * f->turn * e : (double)INFINITY;
    out->size = b->distance + fabs(m->c[0].m[0][3]) + fabs(m->c[0].m[1][3]) +
                fabs(m->c[0].m[2][3]) + out->travel;
}

/* The two boxes at the middle of the interval, and what a gap must exceed. */
typedef struct meeting {
    const obb *a;
    const moving_box *b;
    vec3 between;   /* from a's centre to b's */
    double r[3][3]; /* axis i of a . axis j of b */
    double f[3][3]; /* their magnitudes */
    double t[3];    /* axis i of a . between */
    double enough;  /* m: separation and rounding */
} meeting;

/* The lowest value of v s + w s^2 for |s| <= h, or a little less. */
HR_RT static double lowest(double v, double w, double h)
{
    double speed = fabs(v), fall = h * speed;
    if (2 * h * w > speed)
        return -0.5 * fall; /* the vertex, at -v^2 / 4w */
    return h * h * w - fall;
}

/* Does a gap at the middle outlast the motion along its direction, d from a to b? */
HR_RT static bool outlasts(const meeting *m, double gap, double along, vec3 d)
{
    const moving_box *b = m->b;
    if (gap > m->enough + b->travel)
        return true;
    double sign = along < 0 ? -1 : 1;
    double rest = gap + lowest(vec3_dot(d, b->velocity), sign * vec3_dot(d, b->bend), b->time);
    return rest - b->slack > m->enough;
}

/* The faces of a, then those of b; thin sides first, because they face the other surface. */
HR_RT static bool try_faces(const meeting *m)
{
    const double *ea = &m->a->half.x, *eb = &m->b->half.x;
    for (int i = 0; i < 3; i++) {
        const double *f = m->f[i];
        double gap = fabs(m->t[i]) - ea[i] - eb[0] * f[0] - eb[1] * f[1] - eb[2] * f[2];
        if (gap > m->enough && outlasts(m, gap, m->t[i], m->a->axes[i]))
            return true;
    }
    for (int i = 0; i < 3; i++) {
        double along = vec3_dot(m->b->axes[i], m->between);
        double gap =
            fabs(along) - eb[i] - ea[0] * m->f[0][i] - ea[1] * m->f[1][i] - ea[2] * m->f[2][i];
        if (gap > m->enough && outlasts(m, gap, along, m->b->axes[i]))
            return true;
    }
    return false;
}

/* The cross product of axis i of a and axis j of b, along which the boxes are `gap` times its
 * length apart. */
HR_RT static bool try_edge(const meeting *m, int i, int j, double gap, double along)
{
    vec3 d = vec3_cross(m->a->axes[i], m->b->axes[j]);
    double sine = vec3_length(d);
    if (!(sine > least_sine)) /* nearly parallel: the faces do */
        return false;
    return gap > sine * m->enough && outlasts(m, gap / sine, along, vec3_scale(1 / sine, d));
}

HR_RT static bool try_edges(const meeting *m)
{
    static const int next[] = {1, 2, 0}, last[] = {2, 0, 1};
    const double *ea = &m->a->half.x, *eb = &m->b->half.x;
    for (int i = 0; i < 3; i++) {
        const double *r1 = m->r[next[i]], *r2 = m->r[last[i]];
        const double *f0 = m->f[i], *f1 = m->f[next[i]], *f2 = m->f[last[i]];
        const double t1 = m->t[next[i]], t2 = m->t[last[i]], e1 = ea[next[i]], e2 = ea[last[i]];
        for (int j = 0; j < 3; j++) {
            double along = t2 * r1[j] - t1 * r2[j];
            double gap = fabs(along) - e1 * f2[j] - e2 * f1[j] - eb[next[j]] * f0[last[j]] -
                         eb[last[j]] * f0[next[j]] - m->b->skew;
            if (gap > 0 && try_edge(m, i, j, gap, along))
                return true;
        }
    }
    return false;
}

bool moving_box_is_apart(const obb *a, const moving_box *b, double separation)
{
    meeting m = {.a = a, .b = b, .between = vec3_sub(b->centre, a->centre)};
    double error = rounding * (a->distance + a->radius + b->radius + b->size);
    double far = a->radius + b->radius + separation + b->travel + error;
    if (vec3_length_squared(m.between) > far * far) /* the spheres around them are apart */
        return true;
    m.enough = separation + error / least_sine;
    for (int i = 0; i < 3; i++) {
        m.t[i] = vec3_dot(a->axes[i], m.between);
        for (int j = 0; j < 3; j++) {
            m.r[i][j] = vec3_dot(a->axes[i], b->axes[j]);
            m.f[i][j] = fabs(m.r[i][j]);
        }
    }
    return try_faces(&m) || try_edges(&m);
}
