/* Maps (23), (25) of rodrigues2021 and the exponential drift (RULE 0, 1, 2) on the three-dimensional pendulum: rows of y are
 * three axes and the angular momentum, spatial. */
#include "vectors.h"

static vec to_space(const double *q, vec v) { return axpy(v.x, row(q, 0), axpy(v.y, row(q, 1), scale(v.z, row(q, 2)))); }

static void coefficients(double h, double z2, double *s, double *c)
{
#if RULE == 0
    *s = h; *c = h*h/(1.0 + sqrt(1.0 - z2));
#elif RULE == 1
    const double share = 4.0/(4.0 + z2);
    *s = h*share; *c = 0.5*h*h*share;
#else
    if (z2 < 0.25) {
        *s = h*(1.0 + z2*(-1.0/6.0 + z2*(1.0/120.0 + z2*(-1.0/5040.0 + z2*(1.0/362880.0 + z2*(-1.0/39916800.0
             + z2*(1.0/6227020800.0 - z2/1307674368000.0)))))));
        *c = h*h*(0.5 + z2*(-1.0/24.0 + z2*(1.0/720.0 + z2*(-1.0/40320.0 + z2*(1.0/3628800.0 + z2*(-1.0/479001600.0
             + z2/87178291200.0))))));
    } else {
        const double z = sqrt(z2), half = sin(0.5*z);
        *s = h*sin(z)/z; *c = h*h*(2.0*half*half/z2);
    }
#endif
}

void run(const double *inertia, const double *lever, const double *gravity, double *y, double h, int64_t steps)
{
    vec f = cross(to_space(y, row(lever, 0)), row(gravity, 0));
    for (int64_t k = 0; k < steps; k++) {
        vec p = axpy(0.5*h, f, row(y, 3));
        const vec w = scale(1.0/inertia[0], p);
        double s, c;
        coefficients(h, h*h*dot(w, w), &s, &c);
        for (int64_t j = 0; j < 3; j++) {
            const vec once = cross(w, row(y, j));
            put(y, j, axpy(c, cross(w, once), axpy(s, once, row(y, j))));
        }
        f = cross(to_space(y, row(lever, 0)), row(gravity, 0));
        put(y, 3, axpy(0.5*h, f, p));
    }
}
