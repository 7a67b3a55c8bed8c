/* V = -(gamma/2) sum_{i<j} (|p|/|d| - |d|/|p|), d = q_j - q_i, p = q_i + q_j */
#include "vectors.h"

typedef struct { double gamma; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0][0]}; }

static inline double potential(system_t s, const double *restrict q, int64_t n)
{
    double value = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const vec qi = row(q, i), qj = row(q, j), d = sub(qj, qi), p = add(qi, qj);
            value -= s.gamma*2.0*dot(qi, qj)/sqrt(dot(d, d)*dot(p, p));
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
            const vec d = sub(qj, qi), p = add(qi, qj);
            const double u = dot(d, d), w = dot(p, p), e = u*w, f = -0.5*s.gamma*(u + w)/(e*sqrt(e));
            const vec apart = scale(f*w, d), common = scale(f*u, p);
            total = add(total, add(apart, common));
            put(g, j, add(row(g, j), sub(common, apart)));
        }
        put(g, i, total);
    }
}
