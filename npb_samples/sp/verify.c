/*
 * SP's two norms and their reference figures. After the last step, the root mean square over the
 * inner points of (a) the residual, rhs / time step, and (b) the difference to the exact solution
 * must agree with the figures of the class to a relative 1e-8.
 * Figures: as published with the NAS Parallel Benchmarks for SP, classes S, W, A, B, C.
 */
#include "fields.h"

#include "cfd_model.h"
#include "npb_common.h"

#include <math.h>

#define EPSILON 1.0e-8
#define INNER_POINTS \
    ((double)(PROBLEM_SIZE - 2) * (double)(PROBLEM_SIZE - 2) * (double)(PROBLEM_SIZE - 2))

#if defined(CLASS_S)
static const double reference_residual[5] = {
    2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02,
    1.5840557224455615e-02, 3.4849040609362460e-02};
static const double reference_error[5] = {
    2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05,
    1.5750704994480102e-05, 3.4177666183390531e-05};
#elif defined(CLASS_W)
static const double reference_residual[5] = {
    0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03,
    0.2887475409984e-03, 0.3143611161242e-02};
static const double reference_error[5] = {
    0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04,
    0.1128838671535e-04, 0.1212845639773e-03};
#elif defined(CLASS_A)
static const double reference_residual[5] = {
    2.4799822399300195e+00, 1.1276337964368832e+00, 1.5028977888770491e+00,
    1.4217816211695179e+00, 2.1292113035138280e+00};
static const double reference_error[5] = {
    1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05,
    4.7671093939528255e-05, 1.3621613399213001e-04};
#elif defined(CLASS_B)
static const double reference_residual[5] = {
    0.6903293579998e+02, 0.3095134488084e+02, 0.4103336647017e+02,
    0.3864769009604e+02, 0.5643482272596e+02};
static const double reference_error[5] = {
    0.9810006190188e-02, 0.1022827905670e-02, 0.1720597911692e-02,
    0.1694479428231e-02, 0.1847456263981e-01};
#else
static const double reference_residual[5] = {
    0.5881691581829e+03, 0.2454417603569e+03, 0.3293829191851e+03,
    0.3081924971891e+03, 0.4597223799176e+03};
static const double reference_error[5] = {
    0.2598120500183e+00, 0.2590888922315e-01, 0.5132886416320e-01,
    0.4806073419454e-01, 0.5483377491301e+00};
#endif

/* Sums of squares to root mean squares over the inner points. */
static void take_root(double rms[5], const double sum[5])
{
    for (int m = 0; m < 5; m++)
        rms[m] = sqrt(sum[m] / INNER_POINTS);
}

void error_norm(double rms[5])
{
    double sum[5];

    for (int m = 0; m < 5; m++) {
        double squares = 0.0;
#pragma omp parallel for reduction(+ : squares)
        for (int k = 0; k < PROBLEM_SIZE; k++)
            for (int j = 0; j < PROBLEM_SIZE; j++)
                for (int i = 0; i < PROBLEM_SIZE; i++) {
                    double difference =
                        u[m][k][j][i] -
                        exact_component(m, coordinate(i), coordinate(j), coordinate(k));
                    squares += difference * difference;
                }
        sum[m] = squares;
    }
    take_root(rms, sum);
}

void residual_norm(double rms[5])
{
    double sum[5];

    for (int m = 0; m < 5; m++) {
        double squares = 0.0;
#pragma omp parallel for reduction(+ : squares)
        for (int k = 1; k < PROBLEM_SIZE - 1; k++)
            for (int j = 1; j < PROBLEM_SIZE - 1; j++)
                for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                    squares += rhs[m][k][j][i] * rhs[m][k][j][i];
        sum[m] = squares;
    }
    take_root(rms, sum);
}

int verify(void)
{
    double error[5];
    double residual[5];

    error_norm(error);
    residual_norm(residual);
    for (int m = 0; m < 5; m++)
        residual[m] /= TIME_STEP;

    int residual_agrees =
        npb_compare("RMS norms of the residual", residual, reference_residual, 5, EPSILON);
    int error_agrees =
        npb_compare("RMS norms of the solution's error", error, reference_error, 5, EPSILON);
    return residual_agrees && error_agrees;
}
