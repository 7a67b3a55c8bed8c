/* Rigid body about a fixed point in a unit quaternion: rows q, v, p (4) and the multiplier; n is 1. system: inertia, stiffness. */
#include "quaternions.h"

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
