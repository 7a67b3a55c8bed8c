/* V = sum_i weight_i.q_i + k/2 (1 - q_{i-1}.q_i)^2, q_{-1} the clamp */
#include "vectors.h"

typedef struct { const double *weight; double stiffness; vec clamp; } system_t;
static system_t system_from(double *const *data, int64_t n) { (void)n; return (system_t){data[0], data[1][0], row(data[2], 0)}; }

static inline double potential(system_t s, const double *restrict q, int64_t n)
{
    double value = 0.0;
    vec previous = s.clamp;
    for (int64_t i = 0; i < n; i++) {
        const vec this = row(q, i);
        const double bend = 1.0 - dot(previous, this);
        value += dot(row(s.weight, i), this) + 0.5*s.stiffness*bend*bend;
        previous = this;
    }
    return value;
}

static inline void gradient(system_t s, const double *restrict q, double *restrict g, int64_t n)
{
    vec previous = s.clamp;
    for (int64_t i = 0; i < n; i++) {
        const vec this = row(q, i);
        const double f = -s.stiffness*(1.0 - dot(previous, this));
        put(g, i, axpy(f, previous, row(s.weight, i)));
        if (i > 0) put(g, i - 1, add(row(g, i - 1), scale(f, this)));
        previous = this;
    }
}
