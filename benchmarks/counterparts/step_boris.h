/* Boris: half a drift, half a push, the turn by the Cayley map, half a push, half a drift. */

typedef struct { double *push, *spin; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n) { (void)method; (void)sizes; return (step_t){rows(n), rows(n)}; }
static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { (void)s; (void)p; (void)y; (void)n; }

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    double *restrict x = y, *restrict v = y + 3*n;
    for (int64_t i = 0; i < n; i++) put(x, i, axpy(0.5*h, row(v, i), row(x, i)));
    push(p.system, x, s->push, n);
    spin(p.system, x, s->spin, n);
    for (int64_t i = 0; i < n; i++) {
        vec w = axpy(0.5*h, row(s->push, i), row(v, i));
        const vec half = scale(0.5*h, row(s->spin, i)), between = add(w, cross(w, half));
        w = axpy(2.0/(1.0 + dot(half, half)), cross(between, half), w);
        w = axpy(0.5*h, row(s->push, i), w);
        put(v, i, w);
        put(x, i, axpy(0.5*h, w, row(x, i)));
    }
    return 0;
}
