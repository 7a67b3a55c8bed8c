/* out = h (weights_0 k_0 + ...), count rows of the algebra; the C counterpart of liestep/integrators/stages.py. */
#pragma once
#include "vectors.h"

static inline void combine(const double *restrict weights, double h, const double *restrict k, int64_t stages, double *restrict out, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        vec total = scale(h*weights[0], row(k, i));
        for (int64_t r = 1; r < stages; r++)
            if (weights[r] != 0.0) total = axpy(h*weights[r], row(k + 3*r*count, i), total);
        put(out, i, total);
    }
}
