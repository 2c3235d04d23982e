/* Reference figures of LU after the last step: root mean square of the residual and of the
 * error for each component, and the surface integral (figures of NPB). */
#ifndef LU_REFERENCE_H
#define LU_REFERENCE_H

#include "lu.h"

#if defined(CLASS_S)
static const double reference_residual[NCOMP] = {
    1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03,
    1.5029584435994323e-03, 3.4264073155896461e-02,
};
static const double reference_error[NCOMP] = {
    6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05,
    5.8474222595157350e-05, 1.3103347914111294e-03,
};
static const double reference_surface = 7.8418928865937083e+00;
#elif defined(CLASS_W)
static const double reference_residual[NCOMP] = {
    1.236511638192e+01, 1.317228477799e+00, 2.550120713095e+00,
    2.326187750252e+00, 2.826799444189e+01,
};
static const double reference_error[NCOMP] = {
    4.867877144216e-01, 5.064652880982e-02, 9.281818101960e-02,
    8.570126542733e-02, 1.084277417792e+00,
};
static const double reference_surface = 1.161399311023e+01;
#elif defined(CLASS_A)
static const double reference_residual[NCOMP] = {
    7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02,
    1.7845301160418537e+02, 1.8384760349464247e+03,
};
static const double reference_error[NCOMP] = {
    2.9964085685471943e+01, 2.8194576365003349e+00, 7.3473412698774742e+00,
    6.7139225687777051e+00, 7.0715315688392578e+01,
};
static const double reference_surface = 2.6030925604886277e+01;
#elif defined(CLASS_B)
static const double reference_residual[NCOMP] = {
    3.5532672969982736e+03, 2.6214750795310692e+02, 8.8333721850952190e+02,
    7.7812774739425265e+02, 7.3087969592545314e+03,
};
static const double reference_error[NCOMP] = {
    1.1401176380212709e+02, 8.1098963655421574e+00, 2.8480597317698308e+01,
    2.5905394567832939e+01, 2.6054907504857413e+02,
};
static const double reference_surface = 4.7887162703308227e+01;
#else
static const double reference_residual[NCOMP] = {
    1.03766980323537846e+04, 8.92212458801008552e+02, 2.56238814582660871e+03,
    2.19194343857831427e+03, 1.78078057261061185e+04,
};
static const double reference_error[NCOMP] = {
    2.15986399716949279e+02, 1.55789559239863600e+01, 5.41318863077207766e+01,
    4.82262643154045421e+01, 4.55902910043250358e+02,
};
static const double reference_surface = 6.66404553572181300e+01;
#endif

#endif
