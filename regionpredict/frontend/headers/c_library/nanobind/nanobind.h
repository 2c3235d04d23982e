/* The least of <nanobind/nanobind.h>: enough to read a program, not to build one. */
#ifndef REGIONPREDICT_NANOBIND_H
#define REGIONPREDICT_NANOBIND_H

#include <stddef.h>
#include <stdint.h>

namespace nanobind {
struct handle {};
struct object : handle {
    template <typename... A> object operator()(A &&...) const;
    template <typename T> object operator[](T &&) const;
    object attr(const char *name) const;
};
struct str : object { str(); str(const char *text); const char *c_str() const; };
struct list : object { template <typename T> void append(T &&value); size_t size() const; };
struct tuple : object { size_t size() const; };
struct dict : object { size_t size() const; };
struct capsule : object { template <typename... A> capsule(A &&...); void *data() const; };
struct gil_scoped_acquire { gil_scoped_acquire(); };
struct gil_scoped_release { gil_scoped_release(); };
struct arg { arg(const char *name); template <typename T> arg &operator=(T &&value); };
struct none {};
struct module_ : object {
    template <typename... A> module_ &def(const char *name, A &&...);
};
template <typename T, typename... B> struct class_ : object {
    template <typename... A> class_(A &&...);
    template <typename... A> class_ &def(A &&...);
    template <typename... A> class_ &def_rw(A &&...);
    template <typename... A> class_ &def_ro(A &&...);
};
template <typename... A> struct init {};
template <typename T> T cast(const handle &value);
template <typename... A> tuple make_tuple(A &&...);
namespace literals { arg operator""_a(const char *name, size_t length); }
}
#define NB_MODULE(name, variable) static void regionpredict_module_##name(nanobind::module_ &variable)

#endif
