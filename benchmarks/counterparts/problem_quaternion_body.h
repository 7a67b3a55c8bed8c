/* Rigid body about a fixed point in a unit quaternion: rows q, v, p (4) and the multiplier; n is 1. system: inertia, stiffness. */
#include "spin.h"

enum { WIDTH = 11, STATE_ROWS = 4 };

typedef struct { const double *inertia, *stiffness; } problem_t;

static problem_t problem_from(double *const *system, double *const *mass, double *const *generator, int64_t n)
{
    (void)mass; (void)generator; (void)n;
    return (problem_t){system[0], system[1]};
}

static inline double pull(problem_t p, quat q, int i)
{
    const double *s = p.stiffness + 4*i;
    return s[0]*q.a + s[1]*q.b + s[2]*q.c + s[3]*q.d;
}

/* Energy, momentum (3), orthogonality, (74), (80), |q.q - 1|/2, |q.v|, |q.p|, |p - M v| */
static inline void observe(problem_t s, const double *restrict y, double *restrict out, int64_t n)
{
    (void)n;
    const quat q = quaternion(y), v = quaternion(y + 4), p = quaternion(y + 8);
    const vec one = turned_by(q, (vec){1, 0, 0}), two = turned_by(q, (vec){0, 1, 0}), three = turned_by(q, (vec){0, 0, 1});
    const vec axes[3] = {one, two, three}, spin = scale(0.5, space_part(q, p)), w = body_part(q, v);
    const vec m = {dot(one, spin), dot(two, spin), dot(three, spin)};
    const double height = 0.5*(q.a*pull(s, q, 0) + q.b*pull(s, q, 1) + q.c*pull(s, q, 2) + q.d*pull(s, q, 3));
    out[0] = 0.5*(m.x*m.x/s.inertia[0] + m.y*m.y/s.inertia[1] + m.z*m.z/s.inertia[2]) + height;
    put(out + 1, 0, spin);
    out[4] = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            const double gap = fabs(dot(axes[i], axes[j]) - (i == j ? 1.0 : 0.0));
            if (gap > out[4]) out[4] = gap;
        }
    const double twice = 4.0*(s.inertia[0]*w.x*w.x + s.inertia[1]*w.y*w.y + s.inertia[2]*w.z*w.z);
    out[5] = inner(p, v) - 0.5*twice + height;
    out[6] = 0.5*twice + height;
    out[7] = fabs(unit_defect(q));
    out[8] = fabs(inner(q, v));
    out[9] = fabs(inner(q, p));
    const quat own = from_body(q, (vec){4.0*s.inertia[0]*w.x, 4.0*s.inertia[1]*w.y, 4.0*s.inertia[2]*w.z});
    out[10] = fmax(fmax(fabs(p.a - own.a), fabs(p.b - own.b)), fmax(fabs(p.c - own.c), fabs(p.d - own.d)));
}

/* increment d of q over h by Euler's equations */
static inline void guess(problem_t p, const double *y, double h, double *d)
{
    const quat q = quaternion(y), v = quaternion(y + 4);
    const double *j = p.inertia, k = 0.5*h;
    const vec g = body_part(q, v), w = scale(2.0, g);
    const vec f = body_part(q, (quat){pull(p, q, 0), pull(p, q, 1), pull(p, q, 2), pull(p, q, 3)});
    const vec turn = {h*(w.x + k*((j[1] - j[2])*w.y*w.z - 0.5*f.x)/j[0]), h*(w.y + k*((j[2] - j[0])*w.z*w.x - 0.5*f.y)/j[1]),
                      h*(w.z + k*((j[0] - j[1])*w.x*w.y - 0.5*f.z)/j[2])};
    const quat e = exponential(turn), x = from_body(q, (vec){e.b, e.c, e.d});
    put_quaternion(d, (quat){e.a*q.a + x.a, e.a*q.b + x.b, e.a*q.c + x.c, e.a*q.d + x.d});
}

/* weight and constraint in n unknowns: forces in the rows from `row` on, the multiplier last; x is q_1, d the increment */
static inline void bind(problem_t p, double h, int n, int row, const double *restrict y, const double *restrict d,
                        const double *restrict x, double lambda, double *restrict r, double *restrict a)
{
    for (int i = 0; i < 4; i++) {
        double *ai = a + (row + i)*n;
        for (int k = 0; k < 4; k++) {
            const double t = 0.5*h*p.stiffness[4*i + k];
            r[row + i] += t*(y[k] + x[k]);
            ai[k] += t;
        }
        ai[i] += 0.5*h*lambda;
        const double slope = h*(y[i] + 0.5*d[i]);
        r[row + i] += slope*lambda;
        ai[n - 1] = slope;
        a[(n - 1)*n + i] = x[i];
    }
    r[n - 1] = unit_defect(quaternion(x));
}
