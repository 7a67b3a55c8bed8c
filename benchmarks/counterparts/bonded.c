/* Map (25) of rodrigues2021 on bonded spheres of one size before a wall: printed shear law, contacts s^(5/2) between all
 * pairs (LIST 0: double loop; 1: neighbour list of hashed cells with a skin), wall of the foot point. Rows of y: 3n axes,
 * n angular momenta, n positions, n velocities; unit masses, equal moments J. */
#include "vectors.h"

typedef struct {
    int64_t n, bonds, buckets, capacity;
    const int64_t *first, *second;
    const double *length, *direction;
    double diameter, bending, axial, shear, contact, wall, inertia;
    int64_t *offset, *partner, *cells, *heads, *chain;
    double *anchor, *f, energy[5];
    bool made;
} ring_t;

static vec to_body(const double *q, vec u) { return (vec){dot(row(q, 0), u), dot(row(q, 1), u), dot(row(q, 2), u)}; }
static vec to_space(const double *q, vec v) { return axpy(v.x, row(q, 0), axpy(v.y, row(q, 1), scale(v.z, row(q, 2)))); }
static void add_to(double *a, int64_t i, vec u) { put(a, i, add(row(a, i), u)); }

static void bonds(ring_t *r, const double *p, const double *x)
{
    const int64_t n = r->n;
    double bending = 0.0, axial = 0.0, shear = 0.0;
    for (int64_t b = 0; b < r->bonds; b++) {
        const int64_t i = r->first[b], j = r->second[b];
        const vec sine = add(cross(row(p, 3*j), row(p, 3*i)),
                             add(cross(row(p, 3*j + 1), row(p, 3*i + 1)), cross(row(p, 3*j + 2), row(p, 3*i + 2))));
        const double cosine = dot(row(p, 3*i), row(p, 3*j)) + dot(row(p, 3*i + 1), row(p, 3*j + 1))
                              + dot(row(p, 3*i + 2), row(p, 3*j + 2)) - 1.0;
        const double size = sqrt(dot(sine, sine));
        const vec theta = scale(size < 1e-8 && cosine > 0.0 ? 0.5 : atan2(size, cosine)/size, sine);
        bending += 0.5*r->bending*dot(theta, theta);
        vec one = scale(-r->bending, theta), two = scale(-1.0, one);
        const vec gap = sub(row(x, i), row(x, j));
        const double distance = sqrt(dot(gap, gap)), stretch = distance/r->length[b] - 1.0;
        const vec d = scale(1.0/distance, gap);
        axial += 0.5*r->axial*stretch*stretch;
        vec pull = scale(-r->axial/r->length[b]*stretch, d);
        const vec left = to_space(p + 9*i, row(r->direction, b)), right = to_space(p + 9*j, d);
        const double c = dot(left, right), k = r->shear*(1.0 - c);
        shear += 0.5*k*(1.0 - c);
        pull = axpy(k/distance, axpy(-c, d, to_body(p + 9*j, left)), pull);
        const vec twist = scale(k, cross(left, right));
        one = add(one, twist);
        two = sub(two, twist);
        add_to(r->f, i, one);
        add_to(r->f, j, two);
        add_to(r->f, n + i, pull);
        add_to(r->f, n + j, scale(-1.0, pull));
    }
    r->energy[0] = bending; r->energy[1] = shear; r->energy[2] = axial;
}

static inline double touch(ring_t *r, const double *x, int64_t i, int64_t j)
{
    const vec gap = sub(row(x, i), row(x, j));
    const double reach = r->diameter, square = dot(gap, gap);
    if (!(square < reach*reach)) return 0.0;
    const double distance = sqrt(square), s = 1.0 - distance/reach, root = s*sqrt(s);
    const vec push = scale(r->contact/reach*root/distance, gap);
    add_to(r->f, r->n + i, push);
    add_to(r->f, r->n + j, scale(-1.0, push));
    return r->contact*(0.4*root*s);
}

#if LIST
static int64_t bucket(int64_t a, int64_t b, int64_t c, int64_t mask) { return (a*73856093 ^ b*19349663 ^ c*83492791) & mask; }

static void search(ring_t *r, const double *x)
{
    const int64_t n = r->n, mask = r->buckets - 1;
    const double reach = 1.5*r->diameter;
    for (int64_t c = 0; c <= mask; c++) r->heads[c] = -1;
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int d = 0; d < 3; d++) r->cells[3*i + d] = (int64_t)floor(x[3*i + d]/reach);
        put(r->anchor, i, row(x, i));
        const int64_t c = bucket(r->cells[3*i], r->cells[3*i + 1], r->cells[3*i + 2], mask);
        r->chain[i] = r->heads[c];
        r->heads[c] = i;
    }
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        r->offset[i] = total;
        for (int near = 0; near < 27; near++) {
            const int64_t a = r->cells[3*i] + near/9 - 1, b = r->cells[3*i + 1] + near/3%3 - 1, c = r->cells[3*i + 2] + near%3 - 1;
            for (int64_t j = r->heads[bucket(a, b, c, mask)]; j >= 0; j = r->chain[j]) {
                if (j <= i || r->cells[3*j] != a || r->cells[3*j + 1] != b || r->cells[3*j + 2] != c) continue;
                const vec gap = sub(row(x, i), row(x, j));
                if (!(dot(gap, gap) < reach*reach)) continue;
                int64_t k = total++;
                for (; k > r->offset[i] && r->partner[k - 1] > j; k--) r->partner[k] = r->partner[k - 1];
                r->partner[k] = j;
            }
        }
    }
    r->offset[n] = total;
    r->made = true;
}
#endif

static void contacts(ring_t *r, const double *x)
{
    double total = 0.0;
#if LIST
    bool fresh = r->made;
    const double limit = 0.25*0.25*r->diameter*r->diameter;
    for (int64_t i = 0; i < r->n && fresh; i++) {
        const vec gap = sub(row(x, i), row(r->anchor, i));
        fresh = dot(gap, gap) <= limit;
    }
    if (!fresh) search(r, x);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = r->offset[i]; k < r->offset[i + 1]; k++) total += touch(r, x, i, r->partner[k]);
#else
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = i + 1; j < r->n; j++) total += touch(r, x, i, j);
#endif
    r->energy[3] = total;
}

static void forces(ring_t *r, const double *y)
{
    const int64_t n = r->n;
    const double *x = y + 12*n, radius = 0.5*r->diameter;
    memset(r->f, 0, 6*n*sizeof(double));
    bonds(r, y, x);
    contacts(r, x);
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double s = 1.0 - x[3*i]/radius;
        if (s > 0.0) {
            const double root = s*sqrt(s);
            r->f[3*(n + i)] += r->wall/radius*root;
            total += r->wall*(0.4*root*s);
        }
    }
    r->energy[4] = total;
}

static void kick(const ring_t *r, double h, double *y)
{
    const int64_t n = r->n;
    for (int64_t i = 0; i < n; i++) put(y, 3*n + i, axpy(h, row(r->f, i), row(y, 3*n + i)));
    for (int64_t i = 0; i < n; i++) put(y, 5*n + i, axpy(h, row(r->f, n + i), row(y, 5*n + i)));
}

void run(int64_t n, int64_t bonds_count, const int64_t *first, const int64_t *second, const double *length,
         const double *direction, const double *numbers, double *y, double h, int64_t steps)
{
    ring_t r = {.n = n, .bonds = bonds_count, .first = first, .second = second, .length = length, .direction = direction,
                .diameter = numbers[0], .bending = numbers[1], .axial = numbers[2], .shear = numbers[3],
                .contact = numbers[4], .wall = numbers[5], .inertia = numbers[6], .f = rows(2*n)};
#if LIST
    for (r.buckets = 1; r.buckets < 2*n; r.buckets *= 2) {}
    r.offset = memory((n + 1)*8); r.partner = memory(40*n*8); r.cells = memory(3*n*8);
    r.heads = memory(r.buckets*8); r.chain = memory(n*8); r.anchor = rows(n);
#endif
    forces(&r, y);
    for (int64_t k = 0; k < steps; k++) {
        kick(&r, 0.5*h, y);
        for (int64_t i = 0; i < n; i++) {
            const vec w = scale(1.0/r.inertia, row(y, 3*n + i));
            const double share = 4.0/(4.0 + h*h*dot(w, w)), s = h*share, c = 0.5*h*h*share;
            for (int64_t j = 3*i; j < 3*i + 3; j++) {
                const vec once = cross(w, row(y, j));
                put(y, j, axpy(c, cross(w, once), axpy(s, once, row(y, j))));
            }
        }
        for (int64_t i = 0; i < n; i++) put(y, 4*n + i, axpy(h, row(y, 5*n + i), row(y, 4*n + i)));
        forces(&r, y);
        kick(&r, 0.5*h, y);
    }
    release();
}
