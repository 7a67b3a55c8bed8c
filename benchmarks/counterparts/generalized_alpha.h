/* Steps of the generalized-alpha method of index 3 for bodies on joints of points, after its start: the C counterpart of
   liestep/integrators/generalized_alpha.py and formulations/multibody/index_three.py in body twists and exponential
   coordinates. method: alpha_m, alpha_f, beta, gamma, tolerance, iterations; v, a and rate (2n, 3) and found are those of the
   start. */
#pragma once

typedef struct {
    const int64_t *seats;
    int64_t width, size;
    double *matrix, *right, *loads, *u, *first, *second, *velocity, *change, *found, *gap, *xi, *state, tolerance;
} newton;

static void point_rows(const mechanism *m, double *gaps)
{
    double *s = m->s;
    for (int64_t j = 0; j < m->groups; j++) {
        const int64_t *t = m->table + 6*j;
        const double *c = m->c + 3*(BODY*m->n + 1 + GROUP*j);
        vec gap = {0.0, 0.0, 0.0};
        for (int side = 0; side < 2; side++) {
            const int64_t i = MOVING*t[1 + side], at = MOVING*(m->n + 1) + 3*t[4 + side];
            const double sign = 1.0 - 2.0*side;
            const vec arm = row(c, side);
            for (int k = 0; k < 3; k++) {
                const vec axis = {s[3*i + k], s[3*i + 3 + k], s[3*i + 6 + k]};
                put(s, at + 3*k, (vec){k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0});
                put(s, at + 3*k + 1, scale(sign, cross(arm, axis)));
            }
            gap = axpy(sign, add(row(s, i + PLACE), across(s, i, arm)), gap);
        }
        put(gaps + t[3], 0, gap);
    }
}

static inline vec unit_of(int k) { return (vec){k == 0, k == 1, k == 2}; }

static inline void load(newton *w, int64_t i, vec moment, vec force)
{
    put(w->loads, 2*i, add(row(w->loads, 2*i), moment));
    put(w->loads, 2*i + 1, add(row(w->loads, 2*i + 1), force));
}

static inline void column(newton *w, int64_t i, int j, vec moment, vec force)
{
    const int64_t wide = 3*w->width + 1;
    double *a = w->matrix + w->seats[i]*wide + w->width + j;
    for (int r = 0; r < 3; r++) {
        a[r*wide - r] += component(moment, r);
        a[(r + 3)*wide - r - 3] += component(force, r);
    }
}

static inline void local(const newton *w, int64_t i, vec *theta, vec *delta)
{
    motion_dexpinv(scale(-1.0, row(w->u, 2*i)), scale(-1.0, row(w->u, 2*i + 1)), theta, delta);
}

static void inertia(const mechanism *m, newton *work, int64_t i, double s, double cv, double ca)
{
    const double *c = m->c + 3*BODY*i, mass = s*c[0];
    const vec centre = row(c, 7), w = row(work->velocity, 2*i), p = row(work->velocity, 2*i + 1);
    const vec dw = row(work->change, 2*i), dp = row(work->change, 2*i + 1), turn = cross(w, centre);
    const vec bent = add(cross(dw, centre), cross(w, turn)), weight = times(m->s, MOVING*i, row(m->c, BODY*m->n));
    const vec spin = times(c, 1, w), moment = scale(s, add(times(c, 1, dw), cross(w, spin)));
    const vec force = scale(mass, sub(add(add(dp, cross(w, p)), bent), weight));
    load(work, i, add(moment, cross(centre, force)), force);
    for (int j = 0; j < 6; j++) {
        const vec theta = unit_of(j);
        vec ew = theta, ep = unit_of(j - 3);
        local(work, i, &ew, &ep);
        const vec vw = scale(cv, ew), vp = scale(cv, ep), aw = scale(ca, vw), ap = scale(ca, vp);
        const vec curl = add(cross(aw, centre), add(cross(vw, turn), cross(w, cross(vw, centre))));
        const vec within = scale(mass, add(add(ap, add(cross(vw, p), cross(w, vp))), add(curl, cross(theta, weight))));
        const vec turned = scale(s, add(times(c, 1, aw), add(cross(vw, spin), cross(w, times(c, 1, vw)))));
        column(work, i, j, add(turned, cross(centre, within)), within);
    }
}

static void pull(const mechanism *m, newton *w, int64_t i, vec arm, vec force)
{
    const vec inside = times(m->s, MOVING*i, force);
    for (int j = 0; j < 6; j++) {
        const vec within = scale(-1.0, cross(unit_of(j), inside));
        column(w, i, j, cross(arm, within), within);
    }
}

static void body_rows(const mechanism *m, newton *w, int64_t i)
{
    const int64_t wide = 3*w->width + 1, at = w->seats[i], base = MOVING*(m->n + 1);
    const vec centre = row(m->c, BODY*i + 7);
    for (int64_t k = m->first[i]; k < m->first[i + 1]; k++) {
        const int64_t p = m->place[k], to = w->seats[m->n + p];
        const vec force = times(m->s, MOVING*i, row(m->s, base + 3*k)), moment = add(row(m->s, base + 3*k + 1), cross(centre, force));
        load(w, i, scale(w->found[p], moment), scale(w->found[p], force));
        for (int r = 0; r < 3; r++) {
            w->matrix[(at + r)*wide + to - at - r + w->width] += component(moment, r);
            w->matrix[(at + 3 + r)*wide + to - at - 3 - r + w->width] += component(force, r);
            w->matrix[to*wide + at + r - to + w->width] += component(moment, r);
            w->matrix[to*wide + at + 3 + r - to + w->width] += component(force, r);
        }
    }
    for (int k = 0; k < 6; k++) w->right[at + k] = -w->loads[6*i + k];
}

/* Elimination with partial pivoting by rows of a band with 3 width + 1 columns */
static bool solve_banded(double *restrict a, double *restrict b, int64_t size, int64_t width)
{
    const int64_t wide = 3*width;  /* a[k*wide + j + width] is entry (k, j) */
    for (int64_t k = 0; k < size; k++) {
        const int64_t below = size < k + width + 1 ? size : k + width + 1, last = size < k + 2*width + 1 ? size : k + 2*width + 1;
        int64_t p = k;
        double best = fabs(a[k*wide + k + width]);
        for (int64_t i = k + 1; i < below; i++)
            if (fabs(a[i*wide + k + width]) > best) {
                best = fabs(a[i*wide + k + width]);
                p = i;
            }
        if (!(best > 0.0 && best < INFINITY)) return false;
        double *restrict own = a + k*wide + width;
        if (p != k) {
            double *restrict other = a + p*wide + width;
            for (int64_t j = k; j < last; j++) {
                const double kept = own[j];
                own[j] = other[j];
                other[j] = kept;
            }
            const double kept = b[k];
            b[k] = b[p];
            b[p] = kept;
        }
        const double inverse = 1.0/own[k];
        for (int64_t i = k + 1; i < below; i++) {
            double *restrict line = a + i*wide + width;
            const double factor = line[k]*inverse;
            if (factor == 0.0) continue;
            for (int64_t j = k + 1; j < last; j++) line[j] -= factor*own[j];
            b[i] -= factor*b[k];
        }
    }
    for (int64_t k = size - 1; k >= 0; k--) {
        const int64_t last = size < k + 2*width + 1 ? size : k + 2*width + 1;
        const double *own = a + k*wide + width;
        double value = b[k];
        for (int64_t j = k + 1; j < last; j++) value -= own[j]*b[j];
        b[k] = value/own[k];
    }
    return true;
}

static void put_state(const mechanism *m, newton *w, const double *y, double cv, double ca)
{
    for (int64_t i = 0; i < 2*m->n; i++) {
        const vec velocity = axpy(cv, row(w->u, i), row(w->first, i));
        put(w->velocity, i, velocity);
        put(w->change, i, axpy(ca, velocity, row(w->second, i)));
        put(w->xi, 4*(i/2) + i % 2, row(w->u, i));
    }
    act(m->n, w->xi, y, w->state);
    for (int64_t i = 0; i < m->n; i++) {
        put4(w->state, 4*i + 2, row(w->velocity, 2*i));
        put4(w->state, 4*i + 3, row(w->velocity, 2*i + 1));
    }
}

static double correction(const mechanism *m, newton *w, double s, double cv, double ca)
{
    const int64_t n = m->n;
    double worst = 0.0;
    memset(w->matrix, 0, w->size*(3*w->width + 1)*sizeof(double));
    memset(w->loads, 0, 6*n*sizeof(double));
    read(m, w->state);
    point_rows(m, w->gap);
    for (int64_t i = 0; i < n; i++) inertia(m, w, i, s, cv, ca);
    for (int64_t j = 0; j < m->groups; j++)
        for (int side = 0; side < 2; side++) {
            const int64_t *t = m->table + 6*j, i = t[1 + side];
            const vec arm = row(m->c, BODY*n + 1 + GROUP*j + side);
            if (i < n) pull(m, w, i, add(arm, row(m->c, BODY*i + 7)), scale(1.0 - 2.0*side, row(w->found + t[3], 0)));
        }
    for (int64_t i = 0; i < n; i++) body_rows(m, w, i);
    for (int64_t p = 0; p < m->rows; p++) w->right[w->seats[n + p]] = -w->gap[p];
    if (!solve_banded(w->matrix, w->right, w->size, w->width)) return INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double *b = w->right + w->seats[i];
        vec turned = row(b, 0), moved = row(b, 1);
        local(w, i, &turned, &moved);
        put(w->u, 2*i, add(row(w->u, 2*i), turned));
        put(w->u, 2*i + 1, add(row(w->u, 2*i + 1), moved));
        for (int k = 0; k < 3; k++) worst = fmax(worst, fmax(fabs(component(turned, k)), fabs(component(moved, k))));
    }
    for (int64_t p = 0; p < m->rows; p++) w->found[p] += w->right[w->seats[n + p]];
    return worst;
}

int run(int64_t n, int64_t groups, int64_t size, int64_t width, const double *c, const int64_t *table, const int64_t *first,
        const int64_t *place, const int64_t *seats, const int64_t *order, double *s, const double *method, double *v, double *a,
        double *rate, double *found, double *y, double h, int64_t steps)
{
    const mechanism m = {n, groups, size, 0, c, table, first, place, s, NULL, NULL, NULL, NULL};
    const int64_t unknowns = 6*n + size;
    newton w = {.seats = seats, .width = width, .size = unknowns, .found = found, .tolerance = method[4]};
    double **parts[5] = {&w.u, &w.first, &w.second, &w.velocity, &w.change};
    for (int k = 0; k < 5; k++) *parts[k] = rows(2*n);
    w.matrix = memory(unknowns*(3*width + 1)*sizeof(double));
    w.right = memory(unknowns*sizeof(double));
    w.loads = rows(2*n);
    w.gap = memory(size*sizeof(double));
    w.xi = rows(4*n);
    w.state = memory(16*n*sizeof(double));
    const double alpha_m = method[0], alpha_f = method[1], beta = method[2], gamma = method[3];
    const double ratio = (1.0 - alpha_m)/(1.0 - alpha_f), cv = gamma/(beta*h), ca = ratio/(h*gamma);
    int status = 0;
    for (int64_t step = 0; step < steps && !status; step++) {
        for (int64_t i = 0; i < 2*n; i++) {
            const vec u = row(v, i), b = row(a, i), rest = axpy(-1.0/(beta*h), u, scale((beta - 0.5)/beta, b));
            put(w.u, i, axpy(0.5*h*h, b, scale(h, u)));
            put(w.first, i, axpy(h*gamma, rest, axpy(h*(1.0 - gamma), b, u)));
            const vec least = axpy(ratio, rest, axpy(alpha_m/(1.0 - alpha_f), b, scale(-alpha_f/(1.0 - alpha_f), row(rate, i))));
            put(w.second, i, axpy(-ratio/(h*gamma), row(w.first, i), least));
        }
        double before = INFINITY;
        bool done = false;
        for (int64_t k = 0; k < (int64_t)method[5] && !done && !status; k++) {
            put_state(&m, &w, y, cv, ca);
            const double change = correction(&m, &w, beta*h*h, cv, ca);
            if (!(change < INFINITY)) status = 1;
            done = change < w.tolerance || (before < INFINITY && (change*change <= 0.1*w.tolerance*before
                                                                   || (change <= 1e-11 && change > 0.5*before)));
            before = change;
        }
        if (!done) status = 1;
        put_state(&m, &w, y, cv, ca);
        memcpy(y, w.state, 16*n*sizeof(double));
        for (int64_t i = 0; i < n; i++) if (!(dot(row(w.u, 2*i), row(w.u, 2*i)) < 4.0*M_PI*M_PI)) status = 1;
        for (int64_t k = 0; k < size; k++) y[16*n + k] = 1.0/(beta*h*h)*found[order[k]];
        for (int64_t i = 0; i < 2*n; i++) {
            const vec rest = axpy(-1.0/(beta*h), row(v, i), scale((beta - 0.5)/beta, row(a, i)));
            put(a, i, axpy(1.0/(beta*h*h), row(w.u, i), rest));
        }
        memcpy(v, w.velocity, 6*n*sizeof(double));
        memcpy(rate, w.change, 6*n*sizeof(double));
    }
    release();
    return status;
}
