/* rk4 of many members, LANES of them in a register of gcc's vectors: y (blocks, N) is advanced in place. Registers
   wider than the processor's are kept in memory and take ten times as long. */
typedef double V __attribute__((vector_size(8*LANES), aligned(8)));

#ifdef BODY
enum {N = 12}; /* Q row by row, then the momentum in the body */
static inline void slope(const V *y, const double *inertia, V *k) {
    const V *p = y + 9, w[3] = {p[0]/inertia[0], p[1]/inertia[1], p[2]/inertia[2]};
    for (int i = 0; i < 4; i++) {
        const V *u = y + 3*i;
        k[3*i] = u[1]*w[2] - u[2]*w[1], k[3*i + 1] = u[2]*w[0] - u[0]*w[2], k[3*i + 2] = u[0]*w[1] - u[1]*w[0];
    }
}
#else
enum {N = 4}; /* Henon and Heiles: q, v */
static inline void slope(const V *y, const double *unused, V *k) {
    k[0] = y[2], k[1] = y[3];
    k[2] = -y[0] - 2.0*y[0]*y[1], k[3] = y[1]*y[1] - y[1] - y[0]*y[0];
}
#endif

void run(long blocks, long steps, double h, const double *inertia, V *all) {
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, share[4] = {1.0/6.0, 1.0/3.0, 1.0/3.0, 1.0/6.0};
    for (long b = 0; b < blocks; b++) {
        V y[N], z[N], k[N], sum[N];
        for (int i = 0; i < N; i++)
            y[i] = all[b*N + i];
        for (long step = 0; step < steps; step++) {
            for (int i = 0; i < N; i++)
                sum[i] = y[i], k[i] = y[i] - y[i];
            for (int s = 0; s < 4; s++) {
                for (int i = 0; i < N; i++)
                    z[i] = y[i] + h*at[s]*k[i];
                slope(z, inertia, k);
                for (int i = 0; i < N; i++)
                    sum[i] += h*share[s]*k[i];
            }
            for (int i = 0; i < N; i++)
                y[i] = sum[i];
        }
        for (int i = 0; i < N; i++)
            all[b*N + i] = y[i];
    }
}
