"""The kernels, compiled once for the folder."""

from __future__ import annotations

import shutil

import pytest

from regionpredict.trace.kernels import Kernels
from regionpredict.user_cache import private_folder

COMPILER = next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), None)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    if COMPILER is None:
        pytest.skip("no C compiler")
    return Kernels((COMPILER,), private_folder(tmp_path_factory.mktemp("kernels")))
