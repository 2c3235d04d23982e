/* The least of <mpi.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_MPI_H
#define REGIONPREDICT_MPI_H

#include <stddef.h>

typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Win;
typedef int MPI_Message;
typedef struct regionpredict_mpi_file *MPI_File;
typedef long MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;
typedef int MPI_Fint;
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int reserved[3];
} MPI_Status;
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);

#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define MPI_SUCCESS 0
#define MPI_ANY_SOURCE (-2)
#define MPI_PROC_NULL (-1)
#define MPI_ROOT (-3)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0x24000000
#define MPI_MAX_PROCESSOR_NAME 128
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_PORT_NAME 256
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF ((MPI_Comm)0x44000001)
#define MPI_COMM_NULL ((MPI_Comm)0x04000000)
#define MPI_COMM_TYPE_SHARED 1
#define MPI_GROUP_NULL ((MPI_Group)0x08000000)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x0c000000)
#define MPI_OP_NULL ((MPI_Op)0x18000000)
#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_WIN_NULL ((MPI_Win)0x20000000)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x54000000)
#define MPI_STATUS_IGNORE ((MPI_Status *)1)
#define MPI_STATUSES_IGNORE ((MPI_Status *)1)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_BOTTOM ((void *)0)
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57
#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_LOCK_EXCLUSIVE 234
#define MPI_LOCK_SHARED 235
#define MPI_CHAR ((MPI_Datatype)0x4c000100)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x4c000101)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x4c000102)
#define MPI_BYTE ((MPI_Datatype)0x4c000103)
#define MPI_SHORT ((MPI_Datatype)0x4c000104)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x4c000105)
#define MPI_INT ((MPI_Datatype)0x4c000106)
#define MPI_UNSIGNED ((MPI_Datatype)0x4c000107)
#define MPI_LONG ((MPI_Datatype)0x4c000108)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x4c000109)
#define MPI_LONG_LONG ((MPI_Datatype)0x4c00010a)
#define MPI_LONG_LONG_INT ((MPI_Datatype)0x4c00010b)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x4c00010c)
#define MPI_FLOAT ((MPI_Datatype)0x4c00010d)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00010e)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x4c00010f)
#define MPI_C_COMPLEX ((MPI_Datatype)0x4c000110)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x4c000111)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x4c000112)
#define MPI_C_BOOL ((MPI_Datatype)0x4c000113)
#define MPI_INT8_T ((MPI_Datatype)0x4c000114)
#define MPI_INT16_T ((MPI_Datatype)0x4c000115)
#define MPI_INT32_T ((MPI_Datatype)0x4c000116)
#define MPI_INT64_T ((MPI_Datatype)0x4c000117)
#define MPI_UINT8_T ((MPI_Datatype)0x4c000118)
#define MPI_UINT16_T ((MPI_Datatype)0x4c000119)
#define MPI_UINT32_T ((MPI_Datatype)0x4c00011a)
#define MPI_UINT64_T ((MPI_Datatype)0x4c00011b)
#define MPI_PACKED ((MPI_Datatype)0x4c00011c)
#define MPI_FLOAT_INT ((MPI_Datatype)0x4c00011d)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x4c00011e)
#define MPI_LONG_INT ((MPI_Datatype)0x4c00011f)
#define MPI_2INT ((MPI_Datatype)0x4c000120)
#define MPI_COMPLEX ((MPI_Datatype)0x4c000121)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x4c000122)
#define MPI_AINT ((MPI_Datatype)0x4c000123)
#define MPI_OFFSET ((MPI_Datatype)0x4c000124)
#define MPI_MAX ((MPI_Op)0x58000001)
#define MPI_MIN ((MPI_Op)0x58000002)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_PROD ((MPI_Op)0x58000004)
#define MPI_LAND ((MPI_Op)0x58000005)
#define MPI_BAND ((MPI_Op)0x58000006)
#define MPI_LOR ((MPI_Op)0x58000007)
#define MPI_BOR ((MPI_Op)0x58000008)
#define MPI_LXOR ((MPI_Op)0x58000009)
#define MPI_BXOR ((MPI_Op)0x5800000a)
#define MPI_MAXLOC ((MPI_Op)0x5800000b)
#define MPI_MINLOC ((MPI_Op)0x5800000c)
#define MPI_REPLACE ((MPI_Op)0x5800000d)
#define MPI_NO_OP ((MPI_Op)0x5800000e)

#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int *count, char ***arguments);
int MPI_Init_thread(int *count, char ***arguments, int required, int *provided);
int MPI_Initialized(int *flag);
int MPI_Finalized(int *flag);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Query_thread(int *provided);
int MPI_Is_thread_main(int *flag);
int MPI_Get_processor_name(char *name, int *length);
int MPI_Get_version(int *version, int *subversion);
int MPI_Error_string(int code, char *text, int *length);
int MPI_Pcontrol(const int level, ...);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Comm_compare(MPI_Comm left, MPI_Comm right, int *result);
int MPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group *made);
int MPI_Group_free(MPI_Group *group);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_size(MPI_Group group, int *size);
int MPI_Cart_create(MPI_Comm comm, int dims, const int sizes[], const int periods[], int reorder, MPI_Comm *made);
int MPI_Cart_coords(MPI_Comm comm, int rank, int dims, int coords[]);
int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank);
int MPI_Cart_shift(MPI_Comm comm, int direction, int distance, int *source, int *target);
int MPI_Cart_sub(MPI_Comm comm, const int kept[], MPI_Comm *made);
int MPI_Cart_get(MPI_Comm comm, int dims, int sizes[], int periods[], int coords[]);
int MPI_Dims_create(int ranks, int dims, int sizes[]);
int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Bsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Send_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Start(MPI_Request *request);
int MPI_Startall(int count, MPI_Request requests[]);
int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *other, int other_count, MPI_Datatype other_type, int from, int other_tag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag, int from, int other_tag, MPI_Comm comm, MPI_Status *status);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int MPI_Cancel(MPI_Request *request);
int MPI_Request_free(MPI_Request *request);
int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Gatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int offsets[], MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Scatter(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Scatterv(const void *from, const int counts[], const int offsets[], MPI_Datatype type, void *to, int count, MPI_Datatype to_type, int root, MPI_Comm comm);
int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, MPI_Comm comm);
int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int offsets[], MPI_Datatype to_type, MPI_Comm comm);
int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, MPI_Comm comm);
int MPI_Alltoallv(const void *from, const int counts[], const int offsets[], MPI_Datatype type, void *to, const int to_counts[], const int to_offsets[], MPI_Datatype to_type, MPI_Comm comm);
int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype *made);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype *made);
int MPI_Type_indexed(int count, const int lengths[], const int offsets[], MPI_Datatype type, MPI_Datatype *made);
int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype types[], MPI_Datatype *made);
int MPI_Type_create_resized(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *made);
int MPI_Type_create_subarray(int dims, const int sizes[], const int parts[], const int starts[], int order, MPI_Datatype type, MPI_Datatype *made);
int MPI_Type_commit(MPI_Datatype *type);
int MPI_Type_free(MPI_Datatype *type);
int MPI_Type_size(MPI_Datatype type, int *size);
int MPI_Get_address(const void *data, MPI_Aint *address);
int MPI_Op_create(MPI_User_function *function, int commutes, MPI_Op *op);
int MPI_Op_free(MPI_Op *op);
int MPI_Pack(const void *from, int count, MPI_Datatype type, void *to, int bytes, int *position, MPI_Comm comm);
int MPI_Unpack(const void *from, int bytes, int *position, void *to, int count, MPI_Datatype type, MPI_Comm comm);
int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void *memory);
int MPI_Free_mem(void *memory);
int MPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window);
int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window);
int MPI_Win_fence(int assertion, MPI_Win window);
int MPI_Win_free(MPI_Win *window);
int MPI_Put(const void *from, int count, MPI_Datatype type, int to, MPI_Aint offset, int to_count, MPI_Datatype to_type, MPI_Win window);
int MPI_Get(void *to, int count, MPI_Datatype type, int from, MPI_Aint offset, int from_count, MPI_Datatype from_type, MPI_Win window);
int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file);
int MPI_File_close(MPI_File *file);
int MPI_File_read_at(MPI_File file, MPI_Offset offset, void *to, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *from, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_write_all(MPI_File file, const void *from, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_set_view(MPI_File file, MPI_Offset offset, MPI_Datatype type, MPI_Datatype shape, const char *form, MPI_Info info);
MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
#ifdef __cplusplus
}
#endif

#endif
