/* The least of <hdf5_hl.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_HDF5_HL_H
#define REGIONPREDICT_HDF5_HL_H

#include <hdf5.h>

#define REGIONPREDICT_H5LT(KIND, TYPE) \
herr_t H5LTmake_dataset_##KIND(hid_t place, const char *name, int rank, const hsize_t *size, \
                               const TYPE *data); \
herr_t H5LTread_dataset_##KIND(hid_t place, const char *name, TYPE *data); \
herr_t H5LTset_attribute_##KIND(hid_t place, const char *object, const char *name, \
                                const TYPE *data, size_t size); \
herr_t H5LTget_attribute_##KIND(hid_t place, const char *object, const char *name, TYPE *data);

REGIONPREDICT_H5LT(char, char)
REGIONPREDICT_H5LT(short, short)
REGIONPREDICT_H5LT(int, int)
REGIONPREDICT_H5LT(long, long)
REGIONPREDICT_H5LT(float, float)
REGIONPREDICT_H5LT(double, double)
herr_t H5LTmake_dataset(hid_t place, const char *name, int rank, const hsize_t *size, hid_t type,
                        const void *data);
herr_t H5LTread_dataset(hid_t place, const char *name, hid_t type, void *data);
herr_t H5LTget_dataset_ndims(hid_t place, const char *name, int *rank);
herr_t H5LTget_dataset_info(hid_t place, const char *name, hsize_t *size, H5T_class_t *kind,
                            size_t *bytes);
herr_t H5LTset_attribute_string(hid_t place, const char *object, const char *name,
                                const char *data);
herr_t H5LTget_attribute_string(hid_t place, const char *object, const char *name, char *data);
herr_t H5LTfind_dataset(hid_t place, const char *name);

#endif
