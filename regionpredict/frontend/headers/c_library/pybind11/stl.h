/* The least of <pybind11/stl.h>: enough to read a program, not to build one. */
#include <pybind11/pybind11.h>
