/* A system on (TS^2)^n with its kind of mass, and the action of SE(3)^n. generator: alpha, beta. */
#include SYSTEM
#include MASS
#include "rotations.h"

enum { WIDTH = 7, STATE_ROWS = 2, ALGEBRA_ROWS = 2 };  /* observables; rows per body */

typedef struct { system_t system; mass_t mass; double *v, *g, *dw, alpha, beta; } problem_t;

static problem_t problem_from(double *const *system, double *const *mass, double *const *generator, int64_t n)
{
    return (problem_t){system_from(system, n), mass_from(mass, n), rows(n), rows(n), rows(n), generator[0][0], generator[1][0]};
}

static inline void observe(problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    const double *q = y, *w = y + 3*n;
    for (int64_t i = 0; i < n; i++) put(p.v, i, cross(row(w, i), row(q, i)));
    out[0] = kinetic_energy(p.mass, p.v, n) + potential(p.system, q, n);
    put(out + 1, 0, momentum(p.mass, q, p.v, n));
    double mean = 0.0, largest = 0.0, tangency = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double length = fabs(1.0 - dot(row(q, i), row(q, i))), slip = fabs(dot(row(q, i), row(w, i)));
        mean += length;
        if (length > largest) largest = length;
        if (slip > tangency) tangency = slip;
    }
    out[4] = mean/n;
    out[5] = largest;
    out[6] = tangency;
}

static inline bool algebra(problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    const double *q = y, *w = y + 3*n;
    gradient(p.system, q, p.g, n);
    const bool ok = angular_acceleration(p.mass, q, w, p.g, p.dw, n);
    for (int64_t i = 0; i < n; i++) {
        const vec a = row(q, i), b = row(w, i);
        put(out, i, axpy(p.alpha, a, b));
        put(out, n + i, axpy(p.alpha, b, axpy(p.beta, a, cross(a, row(p.dw, i)))));
    }
    return ok;
}

static inline void act(const double *restrict xi, const double *y, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double s, c, d;
        const vec A = row(xi, i);
        coefficients(dot(A, A), &s, &c, &d);
        const vec r = quadratic(c, d, A, row(xi, n + i)), w = quadratic(s, c, A, row(y, n + i)), q = quadratic(s, c, A, row(y, i));
        put(out, i, q);
        put(out, n + i, add(w, cross(r, q)));
    }
}

static inline bool dexpinv(const double *restrict sigma, double *restrict v, int64_t n)
{
    bool ok = true;
    for (int64_t i = 0; i < n; i++) {
        vec B = row(v, i), b = row(v, n + i);
        ok = motion_dexpinv(row(sigma, i), row(sigma, n + i), &B, &b) && ok;
        put(v, i, B);
        put(v, n + i, b);
    }
    return ok;
}
