/* Writes the states of a run for liestep_judge.py, licence MIT. One file for each step:
     FILE *f = liestep_open("my_64.csv", h);
     for (long n = 0; n <= steps; n++) { liestep_row(f, n*h, q, w); ... one step of your engine ... }
     fclose(f);
   q: quaternion w x y z from body to space; w: angular velocity in the body, rad/s. Start and parameters: cases.csv.
   Then: python liestep_judge.py free_asymmetric my_*.csv --order 4 */
#ifndef LIESTEP_BENCH_H
#define LIESTEP_BENCH_H
#include <stdio.h>

static FILE *liestep_open(const char *path, double step)
{
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "# step = %.17g\n", step);
        fprintf(file, "time,quaternion_w,quaternion_x,quaternion_y,quaternion_z,rate_x,rate_y,rate_z\n");
    }
    return file;
}

static void liestep_row(FILE *file, double t, const double q[4], const double w[3])
{
    fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", t, q[0], q[1], q[2], q[3], w[0], w[1], w[2]);
}
#endif
