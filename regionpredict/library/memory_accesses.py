"""Memory accesses of functions in well-known libraries, which are identified by their name.

The C library follows ISO C 17, sec. 7, and POSIX.1-2017. The others are OpenMP's routines, the
vector intrinsics of x86 (Intel Intrinsics Guide), R's C interface ("Writing R Extensions", sec. 5
and 6), and the GNU Scientific Library (reference manual, version 2.7). If the program defines a
function with such a name, its body takes precedence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from regionpredict.library.functions import HIDDEN_LOCKS, OUTPUT_OBJECTS, is_synchronisation

_REAL = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1
    fabs fdim floor fma fmax fmin fmod hypot ilogb ldexp lgamma llrint llround log log10 log1p log2
    logb lrint lround nearbyint nextafter nexttoward pow remainder rint round scalbln scalbn sin
    sinh sqrt tan tanh tgamma trunc j0 j1 jn y0 y1 yn sinpi cospi rsqrt nan
"""
_COMPLEX = """
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj
    creal csin csinh csqrt ctan ctanh
"""
# Tests of numbers and characters, allocation, output of values and short strings, program
# termination, clocks, files and system tables, compiler hints, and the macros of `lapacke_config.h`
# for complex numbers.
_OTHERS = """
    isnan isinf isfinite isnormal signbit fpclassify isunordered finite __isnan __isinf __finite
    __isnanf __isinff __finitef __signbit __signbitf abs labs llabs imaxabs div ldiv toupper tolower
    isalpha isdigit isalnum isspace isupper islower ispunct isprint isxdigit
    malloc calloc realloc reallocarray free aligned_alloc memalign valloc alloca _mm_malloc _mm_free
    printf fprintf puts fputs putchar putc fputc perror fflush vprintf vfprintf __printf_chk
    __fprintf_chk raise time clock gettimeofday clock_gettime sched_yield usleep sleep
    nanosleep getpid __errno_location va_start va_end va_copy
    MPI_Barrier MPI_Initialized MPI_Finalized
    exit _exit _Exit abort atexit __assert_fail __assert __assert_rtn
    fopen freopen fdopen fclose fileno feof ferror clearerr fseek ftell rewind open close lseek
    fsync unlink remove rename isatty sysconf getpagesize getenv localtime gmtime ctime
    difftime mktime strerror __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
    opendir closedir mkdir rmdir access chdir warn warnx vwarn vwarnx signal sigemptyset sigaddset
    setlocale basename __xpg_basename dirname
    pthread_self pthread_spin_init ffs ffsl ffsll write MPI_Wtime MPI_Wtick
    unreachable trap
    __sync_synchronize __atomic_thread_fence __atomic_signal_fence atomic_thread_fence
    atomic_signal_fence this_thread::yield thrd_yield pthread_yield sem_init sem_destroy
    prefetch popcount popcountl popcountll parity parityl parityll clz clzl clzll ctz ctzl ctzll
    bswap16 bswap32 bswap64 classify_type huge_val
    huge_valf inf inff constant_p assume_aligned assume
    lapack_make_complex_double lapack_make_complex_float lapack_complex_double_real
    lapack_complex_double_imag lapack_complex_float_real lapack_complex_float_imag
"""
# R's C interface: creation and release of objects, messages, random numbers, distributions.
_OF_R = """
    R_IsNA R_IsNaN R_finite R_isnancpp R_pow R_pow_di R_chk_calloc R_chk_realloc R_chk_free R_alloc
    R_CHAR R_nchar R_CheckUserInterrupt R_FlushConsole R_ProcessEvents Rprintf REprintf vmaxget
    vmaxset unif_rand norm_rand exp_rand GetRNGstate PutRNGstate Rf_error Rf_warning
"""
# `REAL(x)`, `LENGTH(x)` and similar functions of this header describe R objects. Their elements are
# accessed through the pointers that these functions return. The functions below access arrays.
_OBJECTS_OF_R = "Rinternals.h"
_MATHLIB_OF_R = re.compile(  # "Writing R Extensions", sec. 6.7.1 and 6.7.2
    r"Rf_[dpqr](?:n?beta|n?binom|cauchy|n?chisq|n?t|n?f|exp|gamma|geom|hyper|logis|lnorm|norm|nbinom"
    r"|pois|signrank|tukey|unif|weibull|wilcox)\w{0,3}"
    r"|Rf_(?:l?gammafn|(?:di|tri|tetra|penta|psi)gamma|l?beta|l?choose|bessel_[ijky]|[fi](?:max|min)2"
    r"|sign|fprec|fround|fsign|ftrunc|lgamma1p|log1pmx|logspace_(?:add|sub))"
)
_ARRAYS_OF_R = re.compile(r"R_[iqr]sort\w*|rsort_\w+|Rf_(?:revsort|[ir]Psort|copy\w+)")
# The GNU Scientific Library: functions of numbers, random numbers, interpolation in tables that fit
# into caches, and creation and release of objects.
_OF_GSL = re.compile(
    r"gsl_(?:sf_(?!\w*_array)\w+(?<!_e)|pow_\w+|log1p|expm1|hypot|isnan|isinf|finite|fcmp|"
    r"strerror|error|rng_\w+|ran_(?!shuffle|choose|sample)\w+|cdf_\w+|root_test_\w+|"
    r"(?:spline|spline2d|interp|interp2d)_eval(?:_deriv2?|_integ)?|interp_(?:bsearch|accel_\w+)|"
    r"root_fsolver_(?:root|x_\w+|name)|\w+_(?:alloc|calloc|free))"
)
# FFTW: allocation, and creation and release of plans.
_OF_FFTW = re.compile(
    r"fftw[fl]?_(?:malloc|free|alloc_\w+|destroy_plan|cleanup\w*|flops|cost|"
    r"init_threads|plan_with_nthreads)"
)
_WITHOUT_MEMORY = frozenset(
    [base + suffix for base in (_REAL + _COMPLEX).split() for suffix in ("", "f", "l")]
    + _OTHERS.split()
    + _OF_R.split()
)
# The positions of arguments through which functions return results.
_WRITES_THROUGH = {
    **{f"sincos{suffix}": (1, 2) for suffix in ("", "f", "l")},
    **{f"{base}{suffix}": (1,) for base in ("frexp", "modf") for suffix in ("", "f", "l")},
    **{f"remquo{suffix}": (2,) for suffix in ("", "f", "l")},
    "lgamma_r": (1,), "lgammaf_r": (1,), "rand_r": (0,), "erand48": (0,), "nrand48": (0,),
    "posix_memalign": (0,), "times": (0,), "localtime_r": (1,), "gmtime_r": (1,),
    "MPI_Comm_rank": (1,), "MPI_Comm_size": (1,), "MPI_Cart_rank": (2,), "MPI_Type_size": (1,),
    "sigaction": (2,), "stat": (1,), "fstat": (1,), "lstat": (1,),
    "gsl_integration_glfixed_point": (3, 4),
    **{f"gsl_spline_eval{kind}_e": (3,) for kind in ("", "_deriv", "_deriv2")},
    "gsl_spline_eval_integ_e": (4,),
    **{f"gsl_spline2d_eval{kind}_e": (5,) for kind in ("", "_deriv_x", "_deriv_y", "_deriv_xx")},
    **dict.fromkeys(("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"), (0,)),
}  # fmt: skip
# The position of the first result argument of functions that read formatted text.
_SCANNED = {"scanf": 1, "fscanf": 2, "sscanf": 2}
# C++ functions of numbers (`std::norm`, `std::numeric_limits<T>::infinity()`), by their header.
_NUMBERS_OF_CPP = re.compile(r"/c\+\+/(?:v1|[\d.]+)/(?:complex|limits|cmath|numbers|bit)$")
# C++ output to streams, which the library's headers declare.
_OUTPUT_OF_CPP = frozenset(("operator<<", "endl", "flush", "put", "setw", "setprecision"))
# C++ strings and string streams, which occupy a few cache lines each. Accesses to their characters
# are counted as array accesses.
_TEXT_OF_CPP = re.compile(
    r"/bits/(?:basic_string\.(?:h|tcc)|char_traits\.h|sstream\.tcc)$|/string_view$|/sstream$"
    r"|/bits/string_view\.tcc$|/c\+\+/v1/(?:string|string_view|sstream)$"
)
# C++ random number generators and distributions, which write their state. Methods of containers
# write the container's length, and an element near the previous one. Queries read only the
# container object, which stays in a cache.
_RANDOM_OF_CPP = re.compile(r"/bits/(?:random|uniform_int_dist)\.(?:h|tcc)$|/__random/")
_CONTAINERS_OF_CPP = re.compile(
    r"/bits/(?:stl_(?:vector|bvector|deque|queue|stack|tree|(?:multi)?(?:map|set))\.h"
    r"|(?:vector|deque)\.tcc|unordered_(?:map|set)\.h|hashtable(?:_policy)?\.h)$"
    r"|/c\+\+/v1/(?:__(?:vector|tree|hash_table)|(?:unordered_)?(?:map|set)|vector|deque|queue|stack)"
)
_CHANGES_OF_CONTAINERS = frozenset((
    "push_back", "emplace_back", "pop_back", "push_front", "emplace_front", "pop_front", "push",
    "pop", "insert", "emplace", "emplace_hint", "try_emplace", "insert_or_assign", "erase", "clear",
    "reserve", "resize", "rehash", "shrink_to_fit", "assign", "operator=",
))  # fmt: skip
_QUERIES_OF_CONTAINERS = frozenset((
    "begin", "end", "cbegin", "cend", "size", "empty", "capacity", "max_size", "bucket_count",
    "load_factor", "max_load_factor", "get_allocator", "key_comp", "value_comp",
))  # fmt: skip
_ENDING = frozenset((
    "exit", "_exit", "_Exit", "quick_exit", "abort", "terminate", "__assert_fail", "__assert",
    "__assert_rtn", "_wassert", "MPI_Abort", "err", "errx", "verr", "verrx",
    "__builtin_unreachable", "__builtin_trap", "longjmp", "_longjmp", "siglongjmp",
    "__longjmp_chk", "pthread_exit", "Rf_error",
))  # fmt: skip
FILLED_CONTAINER = "std::vector"
"""The construction of a container with a number of elements, which allocates them and writes each
of them (ISO C++ 20, sec. 22.3.11.2). Its arguments are those of `calloc`.
"""
_ALLOCATED: dict[str, tuple[int, ...]] = {
    FILLED_CONTAINER: (0, 1),
    "malloc": (0,), "calloc": (0, 1), "aligned_alloc": (1,), "memalign": (1,), "valloc": (0,),
    "alloca": (0,), "_mm_malloc": (0,), "R_chk_calloc": (0, 1), "R_alloc": (0, 1),
    **{f"fftw{precision}_malloc": (0,) for precision in ("", "f", "l")},
}  # fmt: skip
_REGISTERS = re.compile(r"_(?:mm(?:256|512)?|k(?:and|or|xor|not|mov)\w*|cvt)_?\w*")
# Compilers' headers expand intrinsics with an immediate operand to these builtins.
_REGISTER_BUILTINS = re.compile(
    r"__builtin_ia32_(?!\w*(?:load|store|gather|scatter|mov(?:nt|dir)|lddqu|prefetch|clflush|clwb|"
    r"x(?:save|rstor)))\w+"
)
_INDEXED_BUILTIN = re.compile(
    r"__builtin_ia32_(?P<kind>gather|scatter)3?[sd]iv(?P<lanes>\d+)(?P<type>df|sf|di|si)"
    r"|__builtin_ia32_gather[dq]_(?P<short>pd|ps|d|q)(?P<width>256)?"
)
_MEMORY_INTRINSIC = re.compile(
    r"_mm(?P<width>256|512)?_(?:mask_|maskz_)?"
    r"(?P<kind>loadu?2?|loadr|loaddup|load1|loadl|loadh|lddqu|maskload|stream_load|broadcast|"
    r"load_pd1|load_ps1|storeu?|storer|store1|storel|storeh|stream|maskstore|i32gather|i64gather|"
    r"i32scatter|i64scatter)_(?P<type>\w+)"
)


def touches_no_memory(name: str, header: str = "") -> bool:
    """Whether a library function accesses no memory of the program. `name` and `header`, the file
    that declares the function, identify it.
    """
    base = name.removeprefix("std::").removeprefix("__builtin_")
    return (
        base in _WITHOUT_MEMORY
        or base in HIDDEN_LOCKS
        or name in (*OUTPUT_OBJECTS, FILLED_CONTAINER)
        or is_synchronisation(name)
        or name.startswith("omp_")
        or _NUMBERS_OF_CPP.search(header) is not None
        or (name in _OUTPUT_OF_CPP and "/c++/" in header)
        or _TEXT_OF_CPP.search(header) is not None
        or (name in _QUERIES_OF_CONTAINERS and _CONTAINERS_OF_CPP.search(header) is not None)
        or any(form.fullmatch(name) is not None for form in (_MATHLIB_OF_R, _OF_GSL, _OF_FFTW))
        or (header.endswith(_OBJECTS_OF_R) and _ARRAYS_OF_R.fullmatch(name) is None)
        or _REGISTER_BUILTINS.fullmatch(name) is not None
        or (_REGISTERS.fullmatch(name) is not None and memory_intrinsic(name) is None)
    )


def ends_run(name: str) -> bool:
    """Whether a library function with this name never returns, and therefore ends the run."""
    return name.removeprefix("std::") in _ENDING


def allocated(name: str) -> tuple[int, ...] | None:
    """Returns the positions of the arguments whose product is the number of allocated bytes."""
    return _ALLOCATED.get(name.removeprefix("__builtin_"))


def costs_nothing(name: str, header: str = "") -> bool:
    """Whether a function only moves values between registers, or is a constant
    (`std::numeric_limits<double>::infinity()`).
    """
    return header.endswith("/limits") or any(
        form.fullmatch(name) for form in (_REGISTERS, _REGISTER_BUILTINS)
    )


def written_arguments(name: str, count: int, header: str = "") -> tuple[int, ...]:
    """Returns the positions of pointer arguments that receive one result element each. The function
    is identified by its name, its number of arguments, and the file that declares it. The object of
    a method is the first argument.
    """
    if _RANDOM_OF_CPP.search(header) is not None:
        return (
            (1,) if name == "operator()" and count > 1 else (0,)
        )  # a distribution changes its random engine
    if _CONTAINERS_OF_CPP.search(header) is not None:
        return (0, 1)[:count] if name == "swap" else (0,) * (name in _CHANGES_OF_CONTAINERS)
    scanned = _SCANNED.get(name.removeprefix("__isoc99_").removeprefix("__isoc23_"))
    if scanned is not None:
        return tuple(range(scanned, count))
    known = _WRITES_THROUGH.get(name.removeprefix("__builtin_"), ())
    return known if all(position < count for position in known) else ()


class MemoryIntrinsic(NamedTuple):
    """A vector load or store of `bytes` at the address in an argument.

    `lanes` is greater than one if each lane has a separate address.
    """

    kind: str  # 'read' | 'write'
    argument: int
    bytes: int
    lanes: int = 1


def memory_intrinsic(name: str) -> MemoryIntrinsic | None:
    """Returns the memory access of an x86 intrinsic. None if it only uses registers."""
    indexed = _INDEXED_BUILTIN.fullmatch(name)
    if indexed is not None:
        element = 8 if (indexed["type"] or indexed["short"]) in ("df", "di", "pd", "q") else 4
        lanes = int(indexed["lanes"] or int(indexed["width"] or 128) // (8 * element))
        store = indexed["kind"] == "scatter"
        return MemoryIntrinsic("write" if store else "read", int(not store), element, lanes)
    match = _MEMORY_INTRINSIC.fullmatch(name)
    if match is None:
        return None
    width = int(match["width"] or 128) // 8
    kind, types = match["kind"], match["type"]
    masked = "_mask_" in name
    if kind.startswith("broadcast") and not types.endswith(("_ss", "_sd", "ps", "pd")):
        return None  # the source is a register
    element = _element_bytes(types)
    if kind.startswith(("i32gather", "i64gather", "i32scatter", "i64scatter")):
        store = "scatter" in kind
        argument = 0 if store or not (masked or "512" in name) else (2 if masked else 1)
        return MemoryIntrinsic(
            "write" if store else "read", argument, element, max(1, width // element)
        )
    if kind.startswith(("load1", "loadl", "loadh", "loaddup", "store1", "storel", "storeh")):
        width = 8 if kind in ("loadl", "loadh", "storel", "storeh") else element
    elif kind == "broadcast" or types in ("ss", "sd", "ps1", "pd1", "si32", "si64"):
        width = element
    if kind.startswith(("store", "stream", "maskstore")) and kind != "stream_load":
        return MemoryIntrinsic("write", 0, width)
    return MemoryIntrinsic("read", (2 if kind[0] == "l" and masked else int("_maskz_" in name)),
                           width)  # fmt: skip


def _element_bytes(types: str) -> int:
    if types.startswith(("ps", "ss", "epi32", "si32", "ps1")):
        return 4
    return 8


class Arithmetic(NamedTuple):
    """The operations of a call that the compiler replaces by instructions. Each of the `kinds` is
    applied to all `lanes`, with operands of this width in bits.
    """

    kinds: tuple[str, ...]
    lanes: int
    bits: int


_ARITHMETIC = re.compile(
    r"_mm(?P<width>256|512)?_(?:mask_|maskz_|mask3_)?"
    r"(?P<op>add|sub|mul|div|sqrt|fmadd|fmsub|fnmadd|fnmsub|fmaddsub|min|max|cmp\w*|and|or|xor|"
    r"andnot|hadd|addsub)_(?P<type>ps|pd|ss|sd|epi32|epi64|si128|si256|si512)(?:_mask)?"
)
_FLOATING = {
    "add": ("fp_add",), "sub": ("fp_add",), "addsub": ("fp_add",), "hadd": ("fp_add",),
    "mul": ("fp_mul",), "div": ("fp_div",), "sqrt": ("fp_sqrt",),
    "min": ("fp_compare",), "max": ("fp_compare",),
}  # fmt: skip
_BITWISE = frozenset(("and", "or", "xor", "andnot"))
# Bit operations of gcc and C++20, which take one or two instructions.
_BITS = re.compile(r"(?:__builtin_|std::)(?:popcount|parity|clz|ctz|ffs|bswap)(?P<width>l|ll|64)?")


def arithmetic_of(name: str, header: str = "") -> Arithmetic | None:
    """Returns the operations of a function that the compiler replaces by instructions. `name` and
    `header`, the file that declares the function, identify it. None for real calls, and for
    instructions without arithmetic.
    """
    if (
        name == "norm" and _NUMBERS_OF_CPP.search(header) is not None
    ):  # the squared magnitude of a complex number
        return Arithmetic(("fp_mul", "fp_add"), 2, 64)
    bits_only = _BITS.fullmatch(name)
    if bits_only is not None:
        return Arithmetic(("int_logic",), 1, 64 if bits_only["width"] else 32)
    match = _ARITHMETIC.fullmatch(name)
    if match is None:
        return None
    op, types = match["op"], match["type"]
    bits = 32 if types in ("ps", "ss", "epi32") else 64
    lanes = 1 if types in ("ss", "sd") else int(match["width"] or 128) // bits
    if op in _BITWISE:
        return Arithmetic(("int_logic",), lanes, bits)
    if types in ("ps", "pd", "ss", "sd"):
        fused = ("fp_add", "fp_mul") if op.startswith(("fm", "fn")) else None
        return Arithmetic(fused or _FLOATING.get(op, ("fp_compare",)), lanes, bits)
    kinds = {"add": ("int_add",), "sub": ("int_add",), "mul": ("int_mul",)}
    return Arithmetic(kinds.get(op, ("int_compare",)), lanes, bits)
