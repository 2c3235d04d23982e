/* The least of <pybind11/pybind11.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_PYBIND11_H
#define REGIONPREDICT_PYBIND11_H

#include <stddef.h>

namespace pybind11 {
typedef ptrdiff_t ssize_t;
struct handle {};
struct object : handle {
    template <typename... A> object operator()(A &&...) const;
    template <typename T> object operator[](T &&) const;
    object attr(const char *name) const;
    template <typename T> T cast() const;
};
struct none : object {};
struct str : object { str(); template <typename T> str(T &&text); template <typename T> operator T() const; };
struct list : object { template <typename T> void append(T &&value); size_t size() const; };
struct tuple : object { size_t size() const; };
struct dict : object { size_t size() const; };
struct capsule : object { template <typename... A> capsule(A &&...); };
struct gil_scoped_acquire { gil_scoped_acquire(); };
struct gil_scoped_release { gil_scoped_release(); };
struct arg { arg(const char *name); template <typename T> arg &operator=(T &&value); };
struct module_ : object {
    template <typename... A> module_ &def(const char *name, A &&...);
    const char *&doc();
};
typedef module_ module;
template <typename T, typename... B> struct class_ : object {
    template <typename... A> class_(A &&...);
    template <typename... A> class_ &def(A &&...);
    template <typename... A> class_ &def_readwrite(A &&...);
    template <typename... A> class_ &def_readonly(A &&...);
};
template <typename... A> struct init {};
template <typename T> T cast(const handle &value);
template <typename... A> tuple make_tuple(A &&...);
namespace literals { arg operator""_a(const char *name, size_t length); }
}
#define PYBIND11_MODULE(name, variable) \
    static void regionpredict_module_##name(pybind11::module_ &variable)

#endif
