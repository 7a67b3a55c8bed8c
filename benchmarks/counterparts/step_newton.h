/* Cayley coordinates, Newton on the 3n x 3n system (increment form). method: tolerance, iterations. */

typedef struct { double *g, *f, *move, *d, *update, *a, tolerance; int64_t *pivots, iterations; } step_t;

static step_t step_from(double *const *method, const int64_t *sizes, int64_t n)
{
    (void)sizes;
    return (step_t){rows(n), rows(n), rows(n), rows(n), rows(n), memory(9*n*n*sizeof(double)), method[0][0],
                    memory(3*n*sizeof(int64_t)), (int64_t)method[1][0]};
}

static void step_start(step_t *s, problem_t p, const double *y, int64_t n) { gradient(p.system, y, s->g, n); }

static inline void displacements(step_t *s, const double *restrict q, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const vec f = row(s->f, i), qi = row(q, i);
        const double ff = dot(f, f);
        put(s->move, i, scale(2.0/(1.0 + ff), axpy(-ff, qi, cross(f, qi))));
    }
}

static inline vec hat_column(vec q, int r)
{
    return r == 0 ? (vec){0.0, q.z, -q.y} : r == 1 ? (vec){-q.z, 0.0, q.x} : (vec){q.y, -q.x, 0.0};
}

static inline void newton_system(step_t *s, const double *restrict matrix, const double *restrict q, int64_t n)
{
    double *restrict a = s->a;
    const int64_t size = 3*n;
    displacements(s, q, n);
    for (int64_t i = 0; i < n; i++) {
        const vec qi = row(q, i), fi = row(s->f, i);
        vec pull = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) {
            const vec qj = row(q, j), f = row(s->f, j), turn = cross(f, qj);
            const double ff = dot(f, f), u = 2.0/(1.0 + ff), m = matrix[i*n + j];
            if (j != i) pull = axpy(m, row(s->move, j), pull);
            for (int r = 0; r < 3; r++) {
                const double fr = component(f, r);
                if (i == j) {
                    for (int k = 0; k < 3; k++) a[(3*i + k)*size + 3*j + r] = m*(u*(k == r ? 1.0 : 0.0) - u*u*component(f, k)*fr);
                } else {
                    const vec c = cross(qi, axpy(-u*(2.0 - u*ff)*fr, qj, axpy(-u*u*fr, turn, scale(-u, hat_column(qj, r)))));
                    for (int k = 0; k < 3; k++) a[(3*i + k)*size + 3*j + r] = m*component(c, k);
                }
            }
        }
        const vec inner = axpy(2.0*matrix[i*n + i]/(1.0 + dot(fi, fi)), fi, cross(qi, pull));
        put(s->update, i, axpy(-1.0, inner, row(s->d, i)));
    }
}

static inline int solve(step_t *s, const double *restrict matrix, const double *restrict q, int64_t n)
{
    double previous = INFINITY;
    for (int64_t k = 0; k < s->iterations; k++) {
        newton_system(s, matrix, q, n);
        if (!lu(s->a, s->pivots, 3*n)) return 2;
        lu_solve(s->a, s->pivots, s->update, 3*n);
        double change = 0.0, size = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const vec f = row(s->f, i), u = add(f, row(s->update, i));
            for (int c = 0; c < 3; c++) {
                const double difference = fabs(component(u, c) - component(f, c)), value = fabs(component(u, c));
                if (difference > change) change = difference;
                if (value > size) size = value;
            }
            put(s->f, i, u);
        }
        if (!(change < INFINITY)) return 2;
        const double left = size > 0.0 ? change*change/size : change;
        if (left <= s->tolerance*size || (change <= 1e-13*size && change > 0.5*previous)) {
            for (int64_t i = 0; i < n; i++) {
                const vec qi = row(q, i), f = row(s->f, i);
                put(s->f, i, axpy(-dot(qi, f)/dot(qi, qi), qi, f));
            }
            return 0;
        }
        previous = change;
    }
    return 2;
}

static inline int step(step_t *s, problem_t p, double *restrict y, double h, int64_t n)
{
    double *restrict q = y, *restrict w = y + 3*n;
    for (int64_t i = 0; i < n; i++) {
        vec pull = scale(-0.5*h*h, row(s->g, i));
        for (int64_t j = 0; j < n; j++)
            if (j != i) pull = axpy(h*p.mass.matrix[i*n + j], cross(row(w, j), row(q, j)), pull);
        put(s->d, i, axpy(h*p.mass.matrix[i*n + i], row(w, i), cross(row(q, i), pull)));
        put(s->f, i, scale(0.5*h, row(w, i)));
    }
    if (solve(s, p.mass.matrix, q, n)) return 2;
    displacements(s, q, n);
    for (int64_t i = 0; i < n; i++) {
        const vec qi = row(q, i), move = row(s->move, i);
        put(q, i, add(qi, axpy(-0.5*length_defect(qi), add(qi, move), move)));
    }
    gradient(p.system, q, s->g, n);
    for (int64_t i = 0; i < n; i++) {
        vec pull = {0.0, 0.0, 0.0};
        for (int64_t j = 0; j < n; j++) pull = axpy(p.mass.matrix[i*n + j], row(s->move, j), pull);
        pull = (vec){pull.x/h, pull.y/h, pull.z/h};
        put(w, i, cross(row(q, i), axpy(-0.5*h, row(s->g, i), pull)));
    }
    assemble(p.mass, q, n);
    if (!cholesky(p.mass.a, 3*n)) return 3;
    cholesky_solve(p.mass.a, w, 3*n);
    return 0;
}
