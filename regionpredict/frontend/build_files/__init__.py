"""Input: the requests, and the build files of their program. Output: requests with the build's
default macros and headers.

No build is run. Headers that the build would generate are generated from their templates
(`generated_headers`). Macros come from Makefiles (`makefiles`) and CMake files (`cmake_files`), or
enable OpenMP loops (`openmp_switches`).
"""

from regionpredict.frontend.build_files.as_built import AsBuilt, as_built, build_file_places

__all__ = ["AsBuilt", "as_built", "build_file_places"]
