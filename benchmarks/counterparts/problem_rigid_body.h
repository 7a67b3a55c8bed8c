/* Heavy top on T*SO(3): rows Q e_1, Q e_2, Q e_3, pi, and the semidirect action; n is 1. system: inertia, lever, gravity, axis. */
#include "rotations.h"

enum { WIDTH = 8, STATE_ROWS = 4, ALGEBRA_ROWS = 2 };

typedef struct { const double *inertia, *lever, *gravity, *axis; } problem_t;

static problem_t problem_from(double *const *system, double *const *mass, double *const *generator, int64_t n)
{
    (void)mass; (void)generator; (void)n;
    return (problem_t){system[0], system[1], system[2], system[3]};
}

static inline vec body_rate(problem_t p, vec m) { return (vec){m.x/p.inertia[0], m.y/p.inertia[1], m.z/p.inertia[2]}; }

static inline void observe(problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    (void)n;
    const vec m = to_body(y, row(y, 3)), gamma = to_body(y, row(p.gravity, 0));
    out[0] = 0.5*dot(m, body_rate(p, m)) - dot(row(p.lever, 0), gamma);
    put(out + 1, 0, row(y, 3));
    out[4] = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            const double gap = fabs(dot(row(y, i), row(y, j)) - (i == j ? 1.0 : 0.0));
            if (gap > out[4]) out[4] = gap;
        }
    out[5] = dot(m, row(p.axis, 0));
    out[6] = dot(gamma, gamma);
    out[7] = dot(m, gamma);
}

static inline bool algebra(problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    (void)n;
    const vec m = row(y, 3), w = to_space(y, body_rate(p, to_body(y, m)));
    const vec torque = cross(to_space(y, row(p.lever, 0)), row(p.gravity, 0));
    put(out, 0, w);
    put(out, 1, axpy(-1.0, cross(w, m), torque));
    return true;
}

static inline void act(const double *restrict xi, const double *y, double *out, int64_t n)
{
    (void)n;
    double s, c, d;
    const vec u = row(xi, 0);
    coefficients(dot(u, u), &s, &c, &d);
    put(out, 3, add(quadratic(s, c, u, row(y, 3)), quadratic(c, d, u, row(xi, 1))));
    for (int i = 0; i < 3; i++) put(out, i, quadratic(s, c, u, row(y, i)));
}

static inline bool dexpinv(const double *restrict sigma, double *restrict v, int64_t n)
{
    (void)n;
    vec B = row(v, 0), b = row(v, 1);
    const bool ok = motion_dexpinv(row(sigma, 0), row(sigma, 1), &B, &b);
    put(v, 0, B);
    put(v, 1, b);
    return ok;
}
