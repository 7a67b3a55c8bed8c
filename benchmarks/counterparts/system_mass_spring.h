/* Two masses on springs with V = k x^2 (1 + x^2) each; the second coordinate is relative to the first mass. */
#include "vectors.h"

typedef struct { const double *mass, *stiffness; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0], data[1]}; }

static inline void drift(system_t s, const double *restrict p, double *restrict v, int64_t n)
{
    (void)n;
    const double first = (p[0] - p[1])/s.mass[0];
    v[0] = first;
    v[1] = p[1]/s.mass[1] - first;
}

static inline void force(system_t s, const double *restrict q, double *restrict f, int64_t n)
{
    for (int64_t k = 0; k < n; k++) f[k] = -2.0*s.stiffness[k]*q[k]*(1.0 + 2.0*q[k]*q[k]);
}

static inline double stretched(double k, double x) { return k*x*x*(1.0 + x*x); }

static inline double hamiltonian(system_t s, const double *restrict q, const double *restrict p, int64_t n)
{
    (void)n;
    const double apart = p[0] - p[1];
    return 0.5*(apart*apart/s.mass[0] + p[1]*p[1]/s.mass[1]) + stretched(s.stiffness[0], q[0]) + stretched(s.stiffness[1], q[1]);
}
