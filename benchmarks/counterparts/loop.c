/* One triple of the core as ordinary C, sizes at run time. Compile with -DPROBLEM='"..."' -DSTEP='"..."', on spheres also with
   -DSYSTEM='"..."' and -DMASS='"..."', and with -DSTATISTICS=1 for the observables and their accumulations at every step, as
   liestep/runs/recorder.py makes them. Deviations are measured from zero. */
#include PROBLEM
#include STEP

enum { BLOCKS = 100 };

typedef struct {
    double total[WIDTH], largest[WIDTH], baseline[WIDTH], sum[BLOCKS][WIDTH], low[BLOCKS][WIDTH], high[BLOCKS][WIDTH];
    int64_t count[BLOCKS];
} statistics_t;

static inline void accumulate(statistics_t *s, const double *restrict values, int64_t k, int64_t points)
{
    const int64_t block = k > 0 ? (k - 1)*BLOCKS/points : 0;
    for (int c = 0; c < WIDTH; c++) {
        const double d = values[c] - s->baseline[c];
        s->total[c] += fabs(d);
        if (fabs(d) > s->largest[c]) s->largest[c] = fabs(d);
        if (k > 0) {
            s->sum[block][c] += d;
            if (d < s->low[block][c]) s->low[block][c] = d;
            if (d > s->high[block][c]) s->high[block][c] = d;
        }
    }
    if (k > 0) s->count[block]++;
}

/* `steps` steps on y (STATE_ROWS*n, 3); totals (WIDTH,) receives the sums of the absolute deviations. Returns 0 or a status. */
int run(int64_t n, double *const *system, double *const *mass, double *const *generator, double *const *method, const int64_t *sizes,
        double *restrict y, double h, int64_t steps, double *restrict totals)
{
    const problem_t p = problem_from(system, mass, generator, n);
    step_t s = step_from(method, sizes, n);
    double values[WIDTH];
    statistics_t *statistics = memory(sizeof *statistics);
    for (int b = 0; b < BLOCKS; b++)
        for (int c = 0; c < WIDTH; c++) { statistics->low[b][c] = INFINITY; statistics->high[b][c] = -INFINITY; }
    observe(p, y, values, n);
    accumulate(statistics, values, 0, steps);
    step_start(&s, p, y, n);
    int status = 0;
    for (int64_t k = 1; k <= steps && !status; k++) {
        status = step(&s, p, y, h, n);
#if STATISTICS
        observe(p, y, values, n);
        if (!(fabs(values[0]) < INFINITY)) status = 5;
        accumulate(statistics, values, k, steps);
#endif
    }
    memcpy(totals, statistics->total, sizeof statistics->total);
    release();
    return status;
}
