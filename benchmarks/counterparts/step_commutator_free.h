/* Commutator-free method of any scheme. method: weights, times, bases, gives; sizes: exponentials, stages. */
#include "combine.h"

typedef struct { double *k, *sigma, *states; const double *weights; const int64_t *bases, *gives; int64_t exponentials, stages; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    return (step_t){rows(ALGEBRA_ROWS*n*sizes[1]), rows(ALGEBRA_ROWS*n), rows(STATE_ROWS*n*sizes[0]), method[0],
                    (const int64_t *)method[2], (const int64_t *)method[3], sizes[0], sizes[1]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    const int64_t count = ALGEBRA_ROWS*n, size = 3*STATE_ROWS*n;
    if (!algebra(p, y, s->k, n)) return 8;
    for (int64_t e = 0; e < s->exponentials; e++) {
        double *restrict state = s->states + e*size;
        combine(s->weights + e*s->stages, h, s->k, s->stages, s->sigma, count);
        act(s->sigma, s->bases[e] < 0 ? y : s->states + s->bases[e]*size, state, n);
        if (s->gives[e] > 0 && !algebra(p, state, s->k + 3*count*s->gives[e], n)) return 8;
    }
    memcpy(y, s->states + (s->exponentials - 1)*size, size*sizeof(double));
    return 0;
}
