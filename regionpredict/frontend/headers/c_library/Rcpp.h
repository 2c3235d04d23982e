/* The least of <Rcpp.h>: enough to read a package, not to build one. A vector is a pointer to the
   elements of its R object and their number; copies share the elements, as in Rcpp. */
#ifndef REGIONPREDICT_RCPP_H
#define REGIONPREDICT_RCPP_H

#ifdef __has_include
#if __has_include(<vector>)
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#define REGIONPREDICT_STANDARD_LIBRARY
#endif
#endif

#define R_NO_REMAP
#include <Rinternals.h>
#include <Rmath.h>
#include <R_ext/Rdynload.h>
#undef beta
#undef choose

#define RcppExport extern "C"
#define BEGIN_RCPP {
#define END_RCPP } return R_NilValue;
#define VOID_END_RCPP }
#define RCPP_MODULE(name) void regionpredict_module_##name()
#define RCPP_EXPOSED_CLASS(name)
/* The function is read for numbers only, whichever types it is called with. */
#define RCPP_RETURN_VECTOR(function, ...) return Rcpp::wrap(function<REALSXP>(__VA_ARGS__))
#define RCPP_RETURN_MATRIX(function, ...) return Rcpp::wrap(function<REALSXP>(__VA_ARGS__))

namespace R {
using ::dnorm;
using ::pnorm;
using ::qnorm;
using ::rnorm;
using ::runif;
using ::rexp;
using ::rgamma;
using ::lgammafn;
using ::gammafn;
using ::digamma;
using ::trigamma;
}

namespace Rcpp {
struct RObject {
    RObject();
    RObject(SEXP x);
    template <typename T> RObject(const T &);
    template <typename T> RObject &operator=(const T &);
    operator SEXP() const;
    template <typename... A> SEXP attr(A...) const;
    template <typename T> bool hasAttribute(T) const;
    bool inherits(const char *name) const;
    bool isNULL() const;
    SEXP object;
};
typedef RObject Function, Environment, Language, Symbol, Formula, S4;
template <typename T> struct Shield : RObject { Shield(SEXP x); };
struct RNGScope { RNGScope(); ~RNGScope(); };
struct Named {
    template <typename S> Named(S name);
    template <typename S, typename T> Named(S name, T value);
    template <typename T> Named &operator=(const T &);
};
struct Dimension { Dimension(R_xlen_t, R_xlen_t = 1, R_xlen_t = 1); };
struct Placeholder { template <typename V> Named operator()(const char *name, V value) const;
                     Named operator[](const char *name) const; };
static const Placeholder _{};

struct no_init_vector { explicit no_init_vector(R_xlen_t n) : count(n) {} R_xlen_t count; };
struct no_init_matrix {
    no_init_matrix(int r, int c) : rows(r), columns(c) {}
    int rows, columns;
};
typedef no_init_vector no_init;
template <int RTYPE> struct Vector;
template <int RTYPE> struct Matrix;

void checkInterruptFn(void *);
namespace internal {
/* What the conversion of an element names; vectors are constructed from the element instead. */
template <typename T> struct converted { typedef T type; };
template <int RTYPE> struct converted<Vector<RTYPE>> {};
template <int RTYPE> struct converted<Matrix<RTYPE>> {};
/* An element of a list, or a string. */
struct generic_element {
    template <typename T, typename = typename converted<T>::type> operator T() const;
    template <typename T> generic_element &operator=(const T &value);
    template <typename T> bool operator==(const T &value) const;
    template <typename T> bool operator!=(const T &value) const;
    template <typename T> generic_element &operator+=(const T &value);
    const char *get_cstring() const;
    R_xlen_t size() const;
    SEXP object;
};
SEXP resumeJump(SEXP token);
bool isLongjumpSentinel(SEXP x);
SEXP longjumpSentinel(SEXP token);
SEXP getLongjumpToken(SEXP sentinel);
}

/* The type of a vector's elements, and where its R object has them. */
namespace traits {
template <int RTYPE> struct storage_type {
    typedef internal::generic_element type;
    static type *data(SEXP x) { return (type *)VECTOR_PTR(x); }
};
template <> struct storage_type<REALSXP> {
    typedef double type;
    static type *data(SEXP x) { return REAL(x); }
};
template <> struct storage_type<INTSXP> {
    typedef int type;
    static type *data(SEXP x) { return INTEGER(x); }
};
template <> struct storage_type<LGLSXP> {
    typedef int type;
    static type *data(SEXP x) { return LOGICAL(x); }
};
template <> struct storage_type<RAWSXP> {
    typedef Rbyte type;
    static type *data(SEXP x) { return RAW(x); }
};
template <> struct storage_type<CPLXSXP> {
    typedef Rcomplex type;
    static type *data(SEXP x) { return COMPLEX(x); }
};
template <int RTYPE> typename storage_type<RTYPE>::type get_na();
template <int RTYPE> bool is_na(typename storage_type<RTYPE>::type value);
template <typename T> struct input_parameter {
    struct type { type(SEXP x); operator T(); };
};
}

template <int RTYPE> struct Vector {
    typedef typename traits::storage_type<RTYPE>::type stored_type, value_type, *iterator;
    typedef const stored_type *const_iterator;
    typedef stored_type &Proxy, &reference;
    Vector() : elements(0), count(0) {}
    Vector(SEXP x) : elements(traits::storage_type<RTYPE>::data(x)), count(XLENGTH(x)) {}
    Vector(const Vector &other) : elements(other.elements), count(other.count) {}
    explicit Vector(int n) : elements(new stored_type[n]), count(n) {}
    explicit Vector(long n) : elements(new stored_type[n]), count(n) {}
    explicit Vector(unsigned n) : elements(new stored_type[n]), count(n) {}
    explicit Vector(unsigned long n) : elements(new stored_type[n]), count(n) {}
    template <typename V> Vector(int n, V value) : elements(new stored_type[n]), count(n)
    { for (R_xlen_t i = 0; i < n; i++) elements[i] = value; }
    template <typename V> Vector(long n, V value) : elements(new stored_type[n]), count(n)
    { for (R_xlen_t i = 0; i < n; i++) elements[i] = value; }
    template <typename I> Vector(I *first, I *last)
        : elements(new stored_type[last - first]), count(last - first)
    { for (R_xlen_t i = 0; i < count; i++) elements[i] = first[i]; }
    template <typename E> Vector(const E &expression);
    template <typename I, typename = typename I::value_type> Vector(I first, I last);
    Vector(const no_init_vector &n) : Vector(n.count) {}
    template <typename E> Vector &operator=(const E &expression);
    Vector &operator=(const Vector &other)
    { elements = other.elements; count = other.count; return *this; }
    template <typename... A> static Vector create(A...);
    static stored_type get_na();
    static bool is_na(stored_type value);
    stored_type &operator[](R_xlen_t i) { return elements[i]; }
    const stored_type &operator[](R_xlen_t i) const { return elements[i]; }
    stored_type &operator[](int i) { return elements[i]; }
    const stored_type &operator[](int i) const { return elements[i]; }
    stored_type &operator()(R_xlen_t i) { return elements[i]; }
    const stored_type &operator()(R_xlen_t i) const { return elements[i]; }
    stored_type &at(R_xlen_t i) { return elements[i]; }
    internal::generic_element operator[](const char *name) const;
    template <typename S> internal::generic_element operator[](const S &names) const;
    stored_type *begin() { return elements; }
    stored_type *end() { return elements + count; }
    const stored_type *begin() const { return elements; }
    const stored_type *end() const { return elements + count; }
    R_xlen_t size() const { return count; }
    R_xlen_t length() const { return count; }
    void fill(stored_type value) { for (R_xlen_t i = 0; i < count; i++) elements[i] = value; }
    template <typename... A> void push_back(A... value);
    template <typename... A> void push_front(A... value);
    template <typename... A> iterator insert(A... value);
    template <typename... A> iterator erase(A... value);
    internal::generic_element attr(const char *name) const;
    internal::generic_element names() const;
    bool hasAttribute(const char *name) const;
    bool containsElementNamed(const char *name) const;
    operator SEXP() const;
    stored_type *elements;
    R_xlen_t count;
};

/* The elements of a matrix are stored by columns. */
template <int RTYPE> struct Matrix : Vector<RTYPE> {
    typedef typename traits::storage_type<RTYPE>::type stored_type;
    struct Column {
        operator Vector<RTYPE>() const;
        stored_type &operator[](R_xlen_t i) const { return elements[i]; }
        stored_type *begin() const { return elements; }
        stored_type *end() const { return elements + count; }
        R_xlen_t size() const { return count; }
        template <typename E> Column &operator=(const E &expression);
        stored_type *elements;
        R_xlen_t count;
    };
    struct Row {
        operator Vector<RTYPE>() const;
        stored_type &operator[](R_xlen_t i) const { return elements[i * stride]; }
        R_xlen_t size() const { return count; }
        template <typename E> Row &operator=(const E &expression);
        stored_type *elements;
        R_xlen_t stride, count;
    };
    typedef Column ConstColumn;
    typedef Row ConstRow;
    Matrix() : height(0), width(0) {}
    Matrix(SEXP x) : Vector<RTYPE>(x), height(Rf_nrows(x)), width(Rf_ncols(x)) {}
    Matrix(const Matrix &other)
        : Vector<RTYPE>(other), height(other.height), width(other.width) {}
    explicit Matrix(int n) : Vector<RTYPE>(n * n), height(n), width(n) {}
    Matrix(int rows, int columns) : Vector<RTYPE>(rows * columns), height(rows), width(columns) {}
    template <typename I> Matrix(int rows, int columns, I first);
    template <typename E> Matrix(const E &expression);
    Matrix(const no_init_matrix &n) : Matrix(n.rows, n.columns) {}
    Matrix &operator=(const Matrix &other)
    {
        this->elements = other.elements; this->count = other.count;
        height = other.height; width = other.width;
        return *this;
    }
    stored_type &operator()(int i, int j) { return this->elements[i + j * (R_xlen_t)height]; }
    const stored_type &operator()(int i, int j) const
    { return this->elements[i + j * (R_xlen_t)height]; }
    stored_type &at(int i, int j) { return this->elements[i + j * (R_xlen_t)height]; }
    Column column(int j) const { return Column{this->elements + j * (R_xlen_t)height, height}; }
    Row row(int i) const { return Row{this->elements + i, height, width}; }
    Column operator()(Placeholder, int j) const { return column(j); }
    Row operator()(int i, Placeholder) const { return row(i); }
    int nrow() const { return height; }
    int rows() const { return height; }
    int ncol() const { return width; }
    int cols() const { return width; }
    int height, width;
};

typedef Vector<REALSXP> NumericVector, DoubleVector, DateVector, DatetimeVector;
typedef Vector<INTSXP> IntegerVector;
typedef Vector<LGLSXP> LogicalVector;
typedef Vector<RAWSXP> RawVector;
typedef Vector<CPLXSXP> ComplexVector;
typedef Vector<STRSXP> CharacterVector, StringVector;
typedef Vector<VECSXP> List, GenericVector, DataFrame;
typedef Vector<EXPRSXP> ExpressionVector;
typedef Matrix<REALSXP> NumericMatrix;
typedef Matrix<INTSXP> IntegerMatrix;
typedef Matrix<LGLSXP> LogicalMatrix;
typedef Matrix<RAWSXP> RawMatrix;
typedef Matrix<CPLXSXP> ComplexMatrix;
typedef Matrix<STRSXP> CharacterMatrix, StringMatrix;
template <int RTYPE> using MatrixColumn = typename Matrix<RTYPE>::Column;
template <int RTYPE> using ConstMatrixColumn = typename Matrix<RTYPE>::Column;
template <int RTYPE> using MatrixRow = typename Matrix<RTYPE>::Row;
template <int RTYPE> using ConstMatrixRow = typename Matrix<RTYPE>::Row;
template <typename T> struct ListOf : List { ListOf(SEXP x); };
template <typename T> struct Nullable {
    Nullable(SEXP x);
    bool isNull() const;
    bool isNotNull() const;
    T get() const;
    operator T() const;
};
template <typename T> struct XPtr {
    XPtr(SEXP x);
    XPtr(T *p, bool finalize = true);
    T *operator->() const { return pointer; }
    T &operator*() const { return *pointer; }
    T *get() const { return pointer; }
    T *checked_get() const { return pointer; }
    operator SEXP() const;
    T *pointer;
};

template <typename T> T as(SEXP x);
template <typename T> SEXP wrap(const T &value);
template <typename I> SEXP wrap(I first, I last);
template <typename T> T clone(const T &value);
template <typename... A> void stop(A... text);
template <typename... A> void warning(A... text);
template <typename... A> void print(A... value);
void checkUserInterrupt();
SEXP unwindProtect(SEXP (*function)(void *), void *data);

/* Vectorized functions and operators ("sugar"). */
template <int RTYPE> Vector<RTYPE> rev(const Vector<RTYPE> &x);
template <int RTYPE> Vector<RTYPE> unique(const Vector<RTYPE> &x);
template <int RTYPE> Vector<RTYPE> sort_unique(const Vector<RTYPE> &x);
template <int RTYPE> Vector<RTYPE> na_omit(const Vector<RTYPE> &x);
template <int RTYPE> LogicalVector is_na(const Vector<RTYPE> &x);
template <int RTYPE> LogicalVector duplicated(const Vector<RTYPE> &x);
template <int RTYPE> IntegerVector match(const Vector<RTYPE> &x, const Vector<RTYPE> &table);
IntegerVector seq_len(R_xlen_t n);
IntegerVector seq(int first, int last);
template <int RTYPE> IntegerVector seq_along(const Vector<RTYPE> &x);
#define REGIONPREDICT_FOLDED(name) \
    template <int RTYPE> typename traits::storage_type<RTYPE>::type name(const Vector<RTYPE> &x);
REGIONPREDICT_FOLDED(sum)
REGIONPREDICT_FOLDED(max)
REGIONPREDICT_FOLDED(min)
template <int RTYPE> double mean(const Vector<RTYPE> &x);
template <int RTYPE> double var(const Vector<RTYPE> &x);
template <int RTYPE> double sd(const Vector<RTYPE> &x);
template <int RTYPE> R_xlen_t which_max(const Vector<RTYPE> &x);
template <int RTYPE> R_xlen_t which_min(const Vector<RTYPE> &x);
NumericVector runif(R_xlen_t n, double low = 0, double high = 1);
NumericVector rnorm(R_xlen_t n, double mean = 0, double sd = 1);
#undef REGIONPREDICT_FOLDED
#define REGIONPREDICT_BY_ELEMENT(op, result) \
    template <int RTYPE, typename V> result operator op(const Vector<RTYPE> &x, const V &y); \
    template <int RTYPE> result operator op(double x, const Vector<RTYPE> &y);
REGIONPREDICT_BY_ELEMENT(+, Vector<RTYPE>)
REGIONPREDICT_BY_ELEMENT(-, Vector<RTYPE>)
REGIONPREDICT_BY_ELEMENT(*, Vector<RTYPE>)
REGIONPREDICT_BY_ELEMENT(/, Vector<RTYPE>)
REGIONPREDICT_BY_ELEMENT(<, LogicalVector)
REGIONPREDICT_BY_ELEMENT(>, LogicalVector)
REGIONPREDICT_BY_ELEMENT(<=, LogicalVector)
REGIONPREDICT_BY_ELEMENT(>=, LogicalVector)
REGIONPREDICT_BY_ELEMENT(==, LogicalVector)
REGIONPREDICT_BY_ELEMENT(!=, LogicalVector)
#undef REGIONPREDICT_BY_ELEMENT
template <int RTYPE> NumericVector exp(const Vector<RTYPE> &x);
template <int RTYPE> NumericVector log(const Vector<RTYPE> &x);
template <int RTYPE> NumericVector sqrt(const Vector<RTYPE> &x);
template <int RTYPE> NumericVector pow(const Vector<RTYPE> &x, double y);
template <int RTYPE> Vector<RTYPE> abs(const Vector<RTYPE> &x);

struct String {
    template <typename T> String(const T &text);
    const char *get_cstring() const;
    template <typename T> String &operator+=(const T &text);
};
#ifdef REGIONPREDICT_STANDARD_LIBRARY
struct exception : std::exception {
    template <typename T> exception(const T &text);
    const char *what() const noexcept;
};
template <bool output> struct Rostream : std::ostream {};
static Rostream<true> Rcout;
static Rostream<false> Rcerr;
#endif
}

#endif
