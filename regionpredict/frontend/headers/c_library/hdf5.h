/* The least of <hdf5.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_HDF5_H
#define REGIONPREDICT_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int64_t hid_t;
typedef int herr_t;
typedef int htri_t;
typedef bool hbool_t;
typedef unsigned long long hsize_t;
typedef long long hssize_t;
typedef unsigned long haddr_t;

typedef enum { H5S_NO_CLASS = -1, H5S_SCALAR = 0, H5S_SIMPLE = 1, H5S_NULL = 2 } H5S_class_t;
typedef enum {
    H5S_SELECT_NOOP = -1, H5S_SELECT_SET = 0, H5S_SELECT_OR, H5S_SELECT_AND, H5S_SELECT_XOR,
    H5S_SELECT_NOTB, H5S_SELECT_NOTA, H5S_SELECT_APPEND, H5S_SELECT_PREPEND
} H5S_seloper_t;
typedef enum { H5FD_MPIO_INDEPENDENT = 0, H5FD_MPIO_COLLECTIVE } H5FD_mpio_xfer_t;
typedef enum { H5D_COMPACT = 0, H5D_CONTIGUOUS, H5D_CHUNKED } H5D_layout_t;
typedef enum { H5F_SCOPE_LOCAL = 0, H5F_SCOPE_GLOBAL } H5F_scope_t;
typedef enum {
    H5T_NO_CLASS = -1, H5T_INTEGER, H5T_FLOAT, H5T_TIME, H5T_STRING, H5T_BITFIELD, H5T_OPAQUE,
    H5T_COMPOUND, H5T_REFERENCE, H5T_ENUM, H5T_VLEN, H5T_ARRAY
} H5T_class_t;
typedef enum { H5T_STR_NULLTERM = 0, H5T_STR_NULLPAD, H5T_STR_SPACEPAD } H5T_str_t;
typedef enum { H5T_ORDER_LE = 0, H5T_ORDER_BE } H5T_order_t;
typedef enum { H5_INDEX_NAME = 0, H5_INDEX_CRT_ORDER } H5_index_t;
typedef enum { H5_ITER_INC = 0, H5_ITER_DEC, H5_ITER_NATIVE } H5_iter_order_t;
typedef struct { unsigned type; hsize_t nlinks; hsize_t max_corder; hbool_t mounted; } H5G_info_t;
typedef herr_t (*H5E_auto1_t)(void *client);
typedef herr_t (*H5E_auto2_t)(hid_t stack, void *client);
typedef H5E_auto2_t H5E_auto_t;

#define H5F_ACC_RDONLY 0u
#define H5F_ACC_RDWR 1u
#define H5F_ACC_TRUNC 2u
#define H5F_ACC_EXCL 4u
#define H5P_DEFAULT ((hid_t)0)
#define H5E_DEFAULT ((hid_t)0)
#define H5S_ALL ((hid_t)0)
#define H5S_UNLIMITED ((hsize_t)-1)
#define H5T_VARIABLE ((size_t)-1)
extern hid_t H5P_FILE_CREATE, H5P_FILE_ACCESS, H5P_DATASET_CREATE, H5P_DATASET_XFER,
    H5P_DATASET_ACCESS, H5P_GROUP_CREATE, H5P_LINK_CREATE, H5P_ATTRIBUTE_CREATE;
extern hid_t H5T_NATIVE_CHAR, H5T_NATIVE_SCHAR, H5T_NATIVE_UCHAR, H5T_NATIVE_SHORT,
    H5T_NATIVE_USHORT, H5T_NATIVE_INT, H5T_NATIVE_UINT, H5T_NATIVE_LONG, H5T_NATIVE_ULONG,
    H5T_NATIVE_LLONG, H5T_NATIVE_ULLONG, H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_LDOUBLE,
    H5T_NATIVE_INT8, H5T_NATIVE_UINT8, H5T_NATIVE_INT16, H5T_NATIVE_UINT16, H5T_NATIVE_INT32,
    H5T_NATIVE_UINT32, H5T_NATIVE_INT64, H5T_NATIVE_UINT64, H5T_NATIVE_HSIZE, H5T_NATIVE_HBOOL,
    H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I16LE, H5T_STD_U16LE, H5T_STD_I32LE, H5T_STD_U32LE,
    H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_I32BE, H5T_STD_I64BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE,
    H5T_IEEE_F32BE, H5T_IEEE_F64BE, H5T_C_S1, H5T_FORTRAN_S1;

herr_t H5open(void);
herr_t H5close(void);
hid_t H5Fcreate(const char *name, unsigned flags, hid_t create, hid_t access);
hid_t H5Fopen(const char *name, unsigned flags, hid_t access);
herr_t H5Fclose(hid_t file);
herr_t H5Fflush(hid_t object, H5F_scope_t scope);
htri_t H5Fis_hdf5(const char *name);
hid_t H5Gcreate2(hid_t place, const char *name, hid_t link, hid_t create, hid_t access);
hid_t H5Gopen2(hid_t place, const char *name, hid_t access);
herr_t H5Gclose(hid_t group);
herr_t H5Gget_info(hid_t place, H5G_info_t *info);
herr_t H5Gget_num_objs(hid_t place, hsize_t *count);
hid_t H5Dcreate2(hid_t place, const char *name, hid_t type, hid_t space, hid_t link, hid_t create,
                 hid_t access);
hid_t H5Dopen2(hid_t place, const char *name, hid_t access);
herr_t H5Dclose(hid_t set);
herr_t H5Dread(hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, void *data);
herr_t H5Dwrite(hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer,
                const void *data);
herr_t H5Dset_extent(hid_t set, const hsize_t *size);
hid_t H5Dget_space(hid_t set);
hid_t H5Dget_type(hid_t set);
hid_t H5Dget_create_plist(hid_t set);
hsize_t H5Dget_storage_size(hid_t set);
hid_t H5Acreate2(hid_t place, const char *name, hid_t type, hid_t space, hid_t create,
                 hid_t access);
hid_t H5Aopen(hid_t object, const char *name, hid_t access);
hid_t H5Aopen_name(hid_t place, const char *name);
hid_t H5Aopen_by_name(hid_t place, const char *object, const char *name, hid_t access, hid_t link);
htri_t H5Aexists(hid_t object, const char *name);
herr_t H5Aread(hid_t attribute, hid_t type, void *data);
herr_t H5Awrite(hid_t attribute, hid_t type, const void *data);
herr_t H5Aclose(hid_t attribute);
herr_t H5Adelete(hid_t place, const char *name);
hid_t H5Aget_space(hid_t attribute);
hid_t H5Aget_type(hid_t attribute);
hid_t H5Screate(H5S_class_t type);
hid_t H5Screate_simple(int rank, const hsize_t *size, const hsize_t *most);
hid_t H5Scopy(hid_t space);
herr_t H5Sclose(hid_t space);
int H5Sget_simple_extent_ndims(hid_t space);
int H5Sget_simple_extent_dims(hid_t space, hsize_t *size, hsize_t *most);
hssize_t H5Sget_simple_extent_npoints(hid_t space);
hssize_t H5Sget_select_npoints(hid_t space);
herr_t H5Sset_extent_simple(hid_t space, int rank, const hsize_t *size, const hsize_t *most);
herr_t H5Sselect_hyperslab(hid_t space, H5S_seloper_t how, const hsize_t *start,
                           const hsize_t *stride, const hsize_t *count, const hsize_t *block);
herr_t H5Sselect_elements(hid_t space, H5S_seloper_t how, size_t count, const hsize_t *places);
herr_t H5Sselect_all(hid_t space);
herr_t H5Sselect_none(hid_t space);
htri_t H5Sselect_valid(hid_t space);
hid_t H5Tcreate(H5T_class_t kind, size_t size);
hid_t H5Tcopy(hid_t type);
herr_t H5Tclose(hid_t type);
herr_t H5Tinsert(hid_t type, const char *name, size_t offset, hid_t member);
hid_t H5Tarray_create2(hid_t base, unsigned rank, const hsize_t *size);
hid_t H5Tvlen_create(hid_t base);
htri_t H5Tequal(hid_t one, hid_t other);
herr_t H5Tset_size(hid_t type, size_t size);
herr_t H5Tset_strpad(hid_t type, H5T_str_t how);
herr_t H5Tset_order(hid_t type, H5T_order_t order);
size_t H5Tget_size(hid_t type);
H5T_class_t H5Tget_class(hid_t type);
hid_t H5Pcreate(hid_t kind);
herr_t H5Pclose(hid_t list);
herr_t H5Pset_chunk(hid_t list, int rank, const hsize_t *size);
herr_t H5Pset_deflate(hid_t list, unsigned level);
herr_t H5Pset_shuffle(hid_t list);
herr_t H5Pset_fletcher32(hid_t list);
herr_t H5Pset_layout(hid_t list, H5D_layout_t layout);
herr_t H5Pset_fill_value(hid_t list, hid_t type, const void *value);
herr_t H5Pset_buffer(hid_t list, size_t size, void *conversion, void *background);
herr_t H5Pset_create_intermediate_group(hid_t list, unsigned made);
herr_t H5Pset_alignment(hid_t list, hsize_t threshold, hsize_t alignment);
herr_t H5Pset_dxpl_mpio(hid_t list, H5FD_mpio_xfer_t how);
#define H5Pset_fapl_mpio(list, communicator, information) ((herr_t)0)
htri_t H5Lexists(hid_t place, const char *name, hid_t access);
herr_t H5Ldelete(hid_t place, const char *name, hid_t access);
hid_t H5Oopen(hid_t place, const char *name, hid_t access);
herr_t H5Oclose(hid_t object);
htri_t H5Iis_valid(hid_t object);
herr_t H5Eset_auto2(hid_t stack, H5E_auto2_t report, void *client);
herr_t H5Eget_auto2(hid_t stack, H5E_auto2_t *report, void **client);
herr_t H5Eprint2(hid_t stack, FILE *stream);
herr_t H5Eclear2(hid_t stack);
herr_t H5garbage_collect(void);

/* Programs for the interface of HDF5 1.6 say so, all others have the newest. */
#ifdef H5_USE_16_API
#define H5Gcreate H5Gcreate1
#define H5Gopen H5Gopen1
#define H5Dcreate H5Dcreate1
#define H5Dopen H5Dopen1
#define H5Acreate H5Acreate1
#define H5Eset_auto(report, client) ((herr_t)0)
#define H5Eget_auto(report, client) ((herr_t)0)
#else
#define H5Gcreate H5Gcreate2
#define H5Gopen H5Gopen2
#define H5Dcreate H5Dcreate2
#define H5Dopen H5Dopen2
#define H5Acreate H5Acreate2
#define H5Eset_auto H5Eset_auto2
#define H5Eget_auto H5Eget_auto2
#endif
#define H5Gcreate1(place, name, size) H5Gcreate2(place, name, 0, 0, 0)
#define H5Gopen1(place, name) H5Gopen2(place, name, 0)
#define H5Dcreate1(place, name, type, space, create) \
    H5Dcreate2(place, name, type, space, 0, create, 0)
#define H5Dopen1(place, name) H5Dopen2(place, name, 0)
#define H5Acreate1(place, name, type, space, create) \
    H5Acreate2(place, name, type, space, create, 0)
#define H5Tarray_create H5Tarray_create2
#define H5Eprint H5Eprint2

#endif
