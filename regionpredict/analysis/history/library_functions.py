"""Classifies library functions by their effect on memory, for the simulation of a program's
writes.
"""

from __future__ import annotations

from regionpredict.library import FILLED_CONTAINER

NEW = frozenset(
    ("malloc", "calloc", "aligned_alloc", "memalign", "valloc", "_mm_malloc", "mmap", "alloca",
     "numa_alloc_local", "operator new", "omp_alloc", "polybench_alloc_data", FILLED_CONTAINER)
)  # fmt: skip
# The position of the argument that points to the memory that a library function fills.
FILLS = {
    "memset": 0, "memcpy": 0, "memmove": 0, "bzero": 0, "fread": 0, "read": 1, "pread": 1,
    "__builtin_memset": 0, "__builtin_memcpy": 0, "__builtin___memset_chk": 0,
    "__builtin___memcpy_chk": 0,
}  # fmt: skip
HARMLESS = frozenset(
    ("free", "printf", "fprintf", "puts", "fputs", "fwrite", "memcmp", "strcmp", "strncmp",
     "strlen", "atoi", "atof", "strtol", "strtod", "fopen", "fclose", "perror", "time", "clock",
     "gettimeofday", "clock_gettime", "assert", "sprintf", "snprintf", "getenv", "qsort")
)  # fmt: skip
