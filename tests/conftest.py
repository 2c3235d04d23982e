"""What holds for every test: no file of the user's cache is read or written, no answer kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from regionpredict.cli.result_cache import SWITCH

# A shell without job control starts what runs in the background with interrupts ignored, and the
# commands under test inherit that: `make test &` would wait for one that never ends.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    given = pytest.MonkeyPatch()
    given.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    given.setitem(os.environ, SWITCH, "off")
    yield
    given.undo()
