"""Input: the requests, and the build files of their program. Output: requests as the build's
defaults would have them.

Nothing is run. Headers that a build makes are generated from their templates (`generated_headers`).
Macros come from Makefiles (`makefiles`) and CMake files (`cmake_files`), or turn OpenMP loops on
(`openmp_switches`).
"""

from regionpredict.frontend.build_files.as_built import AsBuilt, as_built, build_file_places

__all__ = ["AsBuilt", "as_built", "build_file_places"]
