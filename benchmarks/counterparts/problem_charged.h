/* Particles in a magnetic field: rows x and v of n particles. */
#include SYSTEM

enum { WIDTH = 1, STATE_ROWS = 2 };

typedef struct { system_t system; } problem_t;

static problem_t problem_from(double *const *system, double *const *mass, double *const *generator, int64_t n)
{
    (void)mass; (void)generator;
    return (problem_t){system_from(system, n)};
}

static inline void observe(problem_t p, const double *restrict y, double *restrict out, int64_t n)
{
    out[0] = energy(p.system, y, y + 3*n, n);
}
