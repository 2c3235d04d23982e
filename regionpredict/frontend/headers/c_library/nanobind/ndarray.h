/* The least of <nanobind/ndarray.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_NANOBIND_NDARRAY_H
#define REGIONPREDICT_NANOBIND_NDARRAY_H

#include <nanobind/nanobind.h>

namespace nanobind {
/* The type of the elements is that of the first number among the arguments, and `void` without
   one. */
template <typename... A> struct regionpredict_scalar { typedef void type; };
template <typename T, typename... A> struct regionpredict_scalar<T, A...>
    : regionpredict_scalar<A...> {};
#define REGIONPREDICT_SCALAR(T) \
    template <typename... A> struct regionpredict_scalar<T, A...> { typedef T type; }; \
    template <typename... A> struct regionpredict_scalar<const T, A...> { typedef const T type; };
REGIONPREDICT_SCALAR(double)
REGIONPREDICT_SCALAR(float)
REGIONPREDICT_SCALAR(char)
REGIONPREDICT_SCALAR(signed char)
REGIONPREDICT_SCALAR(unsigned char)
REGIONPREDICT_SCALAR(short)
REGIONPREDICT_SCALAR(unsigned short)
REGIONPREDICT_SCALAR(int)
REGIONPREDICT_SCALAR(unsigned int)
REGIONPREDICT_SCALAR(long)
REGIONPREDICT_SCALAR(unsigned long)
REGIONPREDICT_SCALAR(long long)
REGIONPREDICT_SCALAR(unsigned long long)
REGIONPREDICT_SCALAR(bool)

template <long... N> struct shape {};
template <size_t N> struct ndim {};
struct c_contig {};
struct f_contig {};
struct any_contig {};
struct numpy {};
struct ro {};
namespace device { struct cpu {}; struct none {}; }

template <typename... A> struct ndarray : object {
    typedef typename regionpredict_scalar<A...>::type Scalar;
    template <typename... B> ndarray(B &&...);
    Scalar *data() const { return elements; }
    size_t ndim() const { return axes; }
    size_t size() const { return count; }
    size_t nbytes() const;
    size_t shape(size_t axis) const { return extents[axis]; }
    int64_t stride(size_t axis) const { return steps[axis]; }
    Scalar *elements;
    size_t axes, count, extents[8];
    int64_t steps[8];
};
}

#endif
