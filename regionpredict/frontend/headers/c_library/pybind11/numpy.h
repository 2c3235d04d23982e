/* The least of <pybind11/numpy.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_PYBIND11_NUMPY_H
#define REGIONPREDICT_PYBIND11_NUMPY_H

#include <pybind11/pybind11.h>

namespace pybind11 {
/* Extents or strides, in place of a vector. */
struct regionpredict_extents {
    ssize_t &operator[](size_t axis) { return values[axis]; }
    const ssize_t &operator[](size_t axis) const { return values[axis]; }
    size_t size() const;
    ssize_t *begin() { return values; }
    ssize_t *end();
    template <typename T> operator T() const;
    ssize_t values[8];
};
struct buffer_info {
    void *ptr;
    ssize_t itemsize;
    ssize_t size;
    const char *format;
    ssize_t ndim;
    regionpredict_extents shape;
    regionpredict_extents strides;
};
struct buffer : object { buffer_info request(bool writable = false) const; };
struct array : buffer {
    enum { c_style = 1, f_style = 2, forcecast = 16 };
    ssize_t size() const { return count; }
    ssize_t ndim() const { return axes; }
    ssize_t nbytes() const;
    ssize_t shape(ssize_t axis) const { return extents[axis]; }
    ssize_t strides(ssize_t axis) const { return steps[axis]; }
    const ssize_t *shape() const { return extents; }
    ssize_t count, axes, extents[8], steps[8];
};
/* A view's elements are at its start plus the sums of the products of subscripts and strides. */
template <typename T, ssize_t N> struct regionpredict_view {
    T *elements;
    ssize_t stride0, stride1, extents[N];
    T &operator()(ssize_t i) const { return elements[i]; }
    T &operator()(ssize_t i, ssize_t j) const { return elements[i * stride0 + j]; }
    T &operator()(ssize_t i, ssize_t j, ssize_t k) const
    { return elements[i * stride0 + j * stride1 + k]; }
    T &operator[](ssize_t i) const { return elements[i]; }
    ssize_t shape(ssize_t axis) const { return extents[axis]; }
    ssize_t size() const;
    T *data(ssize_t i) const { return elements + i; }
};
template <typename T, int Flags = array::forcecast> struct array_t : array {
    template <typename... A> array_t(A &&...);
    const T *data() const { return elements; }
    T *mutable_data() { return elements; }
    const T &at(ssize_t i) const { return elements[i]; }
    T &mutable_at(ssize_t i) { return elements[i]; }
    T *elements;
    template <ssize_t N> regionpredict_view<const T, N> unchecked() const;
    template <ssize_t N> regionpredict_view<T, N> mutable_unchecked();
};
}

#endif
