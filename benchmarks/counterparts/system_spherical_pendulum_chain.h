/* V = sum_i weight_i.q_i */
#include "vectors.h"

typedef struct { const double *weight; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0]}; }

static inline double potential(system_t s, const double *restrict q, int64_t n)
{
    double value = 0.0;
    for (int64_t i = 0; i < n; i++) value += dot(row(s.weight, i), row(q, i));
    return value;
}

static inline void gradient(system_t s, const double *restrict q, double *restrict g, int64_t n)
{
    (void)q;
    for (int64_t i = 0; i < 3*n; i++) g[i] = s.weight[i];
}
