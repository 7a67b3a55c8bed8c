/* One triple of the core as ordinary C, sizes at run time. Compile with -DSYSTEM='"..."' -DMASS='"..."' -DSTEP='"..."' and
   -DSTATISTICS=1 for the seven observables and their accumulations at every step, as liestep/core/recorder.py makes them. */
#include SYSTEM
#include MASS
#include STEP

enum { WIDTH = 7, BLOCKS = 100 };

typedef struct {
    double total[WIDTH], largest[WIDTH], baseline[WIDTH], sum[BLOCKS][WIDTH], low[BLOCKS][WIDTH], high[BLOCKS][WIDTH];
    int64_t count[BLOCKS];
} statistics_t;

static inline void observe(system_t system, mass_t M, const double *restrict y, double *restrict v, double *restrict out, int64_t n)
{
    const double *q = y, *w = y + 3*n;
    for (int64_t i = 0; i < n; i++) put(v, i, cross(row(w, i), row(q, i)));
    out[0] = kinetic_energy(M, v, n) + potential(system, q, n);
    put(out + 1, 0, momentum(M, q, v, n));
    double mean = 0.0, largest = 0.0, tangency = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double length = fabs(1.0 - dot(row(q, i), row(q, i))), slip = fabs(dot(row(q, i), row(w, i)));
        mean += length;
        if (length > largest) largest = length;
        if (slip > tangency) tangency = slip;
    }
    out[4] = mean/n;
    out[5] = largest;
    out[6] = tangency;
}

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

/* `steps` steps on y (2n, 3); totals (7,) receives the sums of the absolute deviations. Returns 0 or a status. */
int run(int64_t n, double *const *system_data, double *const *mass_data, double *const *method, const int64_t *sizes,
        double *restrict y, double h, int64_t steps, double *restrict totals)
{
    const system_t system = system_from(system_data, n);
    const mass_t M = mass_from(mass_data, n);
    step_t s = step_from(method, sizes, n);
    double *v = rows(n), values[WIDTH];
    statistics_t *statistics = memory(sizeof *statistics);
    for (int b = 0; b < BLOCKS; b++)
        for (int c = 0; c < WIDTH; c++) { statistics->low[b][c] = INFINITY; statistics->high[b][c] = -INFINITY; }
    observe(system, M, y, v, values, n);
    for (int c = 0; c < 4; c++) statistics->baseline[c] = values[c];
    accumulate(statistics, values, 0, steps);
    step_start(&s, system, M, y, n);
    int status = 0;
    for (int64_t k = 1; k <= steps && !status; k++) {
        status = step(&s, system, M, y, h, n);
#if STATISTICS
        observe(system, M, y, v, values, n);
        if (!(fabs(values[0]) < INFINITY)) status = 5;
        accumulate(statistics, values, k, steps);
#endif
    }
    memcpy(totals, statistics->total, sizeof statistics->total);
    release();
    return status;
}

/* The force alone, `times` times. */
void forces(int64_t n, double *const *system_data, const double *q, double *out, int64_t times)
{
    const system_t system = system_from(system_data, n);
    for (int64_t k = 0; k < times; k++) gradient(system, q, out, n);
}
