"""Input: the requests, and the build files of their program. Output: requests with the defaults of
the build.

Nothing is run. Headers that the build would make are generated from their templates
(`generated_headers`). Macros come from Makefiles (`makefiles`) and CMake files (`cmake_files`), or
enable OpenMP loops (`openmp_switches`).
"""

from regionpredict.frontend.build_files.as_built import AsBuilt, as_built, build_file_places

__all__ = ["AsBuilt", "as_built", "build_file_places"]
