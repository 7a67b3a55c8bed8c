/* Runge-Kutta-Munthe-Kaas method of any tableau. method: a, b, c; sizes: stages, stages. */
#include "combine.h"

typedef struct { double *k, *sigma, *z; const double *a, *b; int64_t stages; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    return (step_t){rows(ALGEBRA_ROWS*n*sizes[0]), rows(ALGEBRA_ROWS*n), rows(STATE_ROWS*n), method[0], method[1], sizes[0]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    const int64_t count = ALGEBRA_ROWS*n, stages = s->stages;
    double *restrict sigma = s->sigma, *restrict z = s->z;
    if (!algebra(p, y, s->k, n)) return 8;
    for (int64_t stage = 1; stage < stages; stage++) {
        double *restrict k = s->k + 3*count*stage;
        combine(s->a + stage*stages, h, s->k, stage, sigma, count);
        act(sigma, y, z, n);
        if (!algebra(p, z, k, n)) return 8;
        if (!dexpinv(sigma, k, n)) return 6;
    }
    combine(s->b, h, s->k, stages, sigma, count);
    act(sigma, y, y, n);
    return 0;
}
