/* A Penning trap: data are mass, cyclotron frequency (3,), half the square of the axial frequency; n is 1. */
#include "vectors.h"

typedef struct { double mass; const double *cyclotron; double half; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0][0], data[1], data[2][0]}; }

static inline void push(system_t s, const double *restrict x, double *restrict a, int64_t n)
{
    (void)n;
    a[0] = s.half*x[0];
    a[1] = s.half*x[1];
    a[2] = -2.0*s.half*x[2];
}

static inline void spin(system_t s, const double *restrict x, double *restrict b, int64_t n)
{
    (void)x; (void)n;
    put(b, 0, row(s.cyclotron, 0));
}

static inline double energy(system_t s, const double *restrict x, const double *restrict v, int64_t n)
{
    (void)n;
    return 0.5*s.mass*(dot(row(v, 0), row(v, 0)) + s.half*(2.0*x[2]*x[2] - x[0]*x[0] - x[1]*x[1]));
}
