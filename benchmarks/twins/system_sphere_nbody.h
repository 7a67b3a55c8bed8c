/* V = -gamma sum_{i<j} c/sqrt(1 - c^2), c = q_i.q_j */
#include "vectors.h"

typedef struct { double gamma; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0][0]}; }

static inline double potential(system_t s, const double *restrict q, int64_t n)
{
    double value = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const double c = dot(row(q, i), row(q, j));
            value -= s.gamma*c/sqrt(1.0 - c*c);
        }
    return value;
}

static inline void gradient(system_t s, const double *restrict q, double *restrict g, int64_t n)
{
    for (int64_t i = 0; i < 3*n; i++) g[i] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const vec qi = row(q, i);
        vec total = row(g, i);
        for (int64_t j = i + 1; j < n; j++) {
            const vec qj = row(q, j);
            const double c = dot(qi, qj), e = 1.0 - c*c, f = -s.gamma/(e*sqrt(e));
            total = axpy(f, qj, total);
            put(g, j, add(row(g, j), scale(f, qi)));
        }
        put(g, i, total);
    }
}
