/*
 * BT's two norms and their reference figures. After the last step, the root mean square over the
 * inner points of (a) the residual, rhs / time step, and (b) the difference to the exact solution
 * must agree with the figures of the class to a relative 1e-8.
 * Figures: as published with the NAS Parallel Benchmarks for BT, classes S, W, A, B, C.
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
    1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
    2.6436421275166801e-02, 1.9211784131744430e-01};
static const double reference_error[5] = {
    4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
    7.3821238632439731e-05, 8.9269630987491446e-04};
#elif defined(CLASS_W)
static const double reference_residual[5] = {
    0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02,
    0.2469174937669e+02, 0.2638427874317e+03};
static const double reference_error[5] = {
    0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01,
    0.9235878729944e+00, 0.1018045837718e+02};
#elif defined(CLASS_A)
static const double reference_residual[5] = {
    1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
    2.3665622544678910e+01, 2.5278963211748344e+02};
static const double reference_error[5] = {
    4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
    8.8302063039765474e-01, 9.7379901770829278e+00};
#elif defined(CLASS_B)
static const double reference_residual[5] = {
    1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
    3.2485447959084092e+02, 3.2707541254659363e+03};
static const double reference_error[5] = {
    5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
    1.2006925323559144e+01, 1.2459576151035986e+02};
#else
static const double reference_residual[5] = {
    0.62398116551764615e+04, 0.50793239190423964e+03, 0.15423530093013596e+04,
    0.13302387929291190e+04, 0.11604087428436455e+05};
static const double reference_error[5] = {
    0.16462008369091265e+03, 0.11497107903824313e+02, 0.41207446207461508e+02,
    0.37087651059694167e+02, 0.36211053051841265e+03};
#endif

void error_norm(double rms[5])
{
    double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};

#pragma omp parallel for reduction(+ : sum[:5])
    for (int k = 0; k < PROBLEM_SIZE; k++)
        for (int j = 0; j < PROBLEM_SIZE; j++)
            for (int i = 0; i < PROBLEM_SIZE; i++)
                for (int m = 0; m < 5; m++) {
                    double difference =
                        u[k][j][i][m] -
                        exact_component(m, coordinate(i), coordinate(j), coordinate(k));
                    sum[m] += difference * difference;
                }

    for (int m = 0; m < 5; m++)
        rms[m] = sqrt(sum[m] / INNER_POINTS);
}

void residual_norm(double rms[5])
{
    double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};

#pragma omp parallel for reduction(+ : sum[:5])
    for (int k = 1; k < PROBLEM_SIZE - 1; k++)
        for (int j = 1; j < PROBLEM_SIZE - 1; j++)
            for (int i = 1; i < PROBLEM_SIZE - 1; i++)
                for (int m = 0; m < 5; m++)
                    sum[m] += rhs[k][j][i][m] * rhs[k][j][i][m];

    for (int m = 0; m < 5; m++)
        rms[m] = sqrt(sum[m] / INNER_POINTS);
}

int verify(void)
{
    double error[5];
    double residual[5];

    error_norm(error);
    compute_rhs();
    residual_norm(residual);
    for (int m = 0; m < 5; m++)
        residual[m] /= TIME_STEP;

    int residual_agrees =
        npb_compare("RMS norms of the residual", residual, reference_residual, 5, EPSILON);
    int error_agrees =
        npb_compare("RMS norms of the solution's error", error, reference_error, 5, EPSILON);
    return residual_agrees && error_agrees;
}
