#include <math.h>
double upwind_fluxes_through_the_faces_of_an_unstructured_mesh(
    int number_of_faces_of_the_mesh, const int *owner, const int *neighbour,
    const double *state, double *flux)
{
    double largest_characteristic_speed = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(max : largest_characteristic_speed)
    for (int face = 0; face < number_of_faces_of_the_mesh; face++) {
        double left = state[owner[face]], right = state[neighbour[face]];
        double speed = fabs(left) > fabs(right) ? left : right;
        flux[face] = 0.5 * (left + right) - 0.5 * fabs(speed) * (right - left);
        if (fabs(speed) > largest_characteristic_speed) largest_characteristic_speed = fabs(speed);
    }
    return largest_characteristic_speed;
}
