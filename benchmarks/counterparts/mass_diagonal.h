/* Kinetic energy with M = diag(m). */
#include "vectors.h"

typedef struct { const double *m; } mass_t;
static mass_t mass_from(double *const *data, int64_t n) { (void)n; return (mass_t){data[0]}; }

static inline double kinetic_energy(mass_t M, const double *restrict v, int64_t n)
{
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) total += M.m[i]*dot(row(v, i), row(v, i));
    return 0.5*total;
}

static inline vec momentum(mass_t M, const double *restrict q, const double *restrict v, int64_t n)
{
    vec total = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < n; i++) total = axpy(M.m[i], cross(row(q, i), row(v, i)), total);
    return total;
}

static inline bool angular_acceleration(mass_t M, const double *restrict q, const double *restrict w, const double *restrict g,
                                        double *restrict out, int64_t n)
{
    (void)w;
    for (int64_t i = 0; i < n; i++) put(out, i, scale(-1.0/M.m[i], cross(row(q, i), row(g, i))));
    return true;
}
