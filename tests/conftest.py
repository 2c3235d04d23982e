"""What holds for every test: no file of the user's cache is read or written, no answer kept."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from regionpredict.cli.result_cache import SWITCH


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    given = pytest.MonkeyPatch()
    given.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    given.setitem(os.environ, SWITCH, "off")
    yield
    given.undo()
