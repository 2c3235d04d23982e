"""What holds for every test: no file of the user's cache is read or written, no answer kept.

And a host that others use, for those that want one.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import settings
from read_here import in_children, read_here
from warm_command import WarmCommand

from regionpredict.cli.result_cache import SWITCH
from regionpredict.frame_memory import with_frame_memory
from regionpredict.isolation import Failure
from regionpredict.measure.host_activity import read_activity

# A shell without job control starts what runs in the background with interrupts ignored, and the
# commands under test inherit that: `make test &` would wait for one that never ends.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Collection and tests make hardly a cycle: with the interpreter's thresholds, looking for one is a
# sixth of the collection.
gc.set_threshold(100_000, 20, 20)

# On a host that others use an example can take any time: none fails for that.
settings.register_profile("any-load", deadline=None)
settings.load_profile("any-load")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What opens a browser is slow, and what a room behind the readers says with the second one."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) or _reads_twice(item):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """As the command runs; a test's frames often end a chunk, too."""
    pyfuncitem.obj = partial(with_frame_memory, pyfuncitem.obj)
    yield


_BEHIND_THE_READERS = {
    "analysis", "library",
    # Of the front end, what the values of variables are: found after both readers, in one form.
    "test_allocated_lengths.py", "test_defaults_of_main.py", "test_function_values.py",
    "test_library_algorithms.py", "test_library_models.py", "test_listed_members.py",
    "test_loops_not_counted.py", "test_methods_in_structs.py", "test_one_size_many_names.py",
    "test_running_totals.py", "test_several_functions.py", "test_single_assignments.py",
    "test_unseen_memory.py",
}  # fmt: skip


def _reads_twice(item: pytest.Item) -> bool:
    """Whether it repeats with pycparser what was asked of the program that libclang read.

    That both read the same is what the tests of the front end and the text cases say.
    """
    if _BEHIND_THE_READERS.isdisjoint((item.path.parent.name, item.path.name)):
        return False
    called = getattr(item, "callspec", None)
    given = called.params.values() if called is not None else ()
    return any(isinstance(value, str) and value == "pycparser" for value in given)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    given = pytest.MonkeyPatch()
    given.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    given.setitem(os.environ, SWITCH, "off")
    yield
    given.undo()


@pytest.fixture(autouse=True, scope="session")
def _warm_command(_own_cache: None) -> Iterator[None]:
    """Calls of the command by `subprocess.run` are forks of one that is loaded."""
    given = pytest.MonkeyPatch()
    given.setattr(subprocess, "run", WarmCommand().run)
    yield
    given.undo()


@pytest.fixture(autouse=True, scope="session")
def _files_are_read_here() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # what is loaded stays: no collection looks at it again
    given = pytest.MonkeyPatch()
    given.setattr("regionpredict.isolated_reading.run_isolated", read_here)
    yield
    given.undo()


@pytest.fixture(autouse=True)
def _defects_are_raised(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect that costs one region its answer fails the test that meets it.

    Tests of that isolation are marked `isolated_defects`, and read in processes of their own.
    """
    if request.node.get_closest_marker("isolated_defects") is None:
        monkeypatch.setattr("regionpredict.isolation.internal_error", _raise)
    else:
        monkeypatch.setattr("regionpredict.isolated_reading.run_isolated", in_children)
        monkeypatch.setattr(WarmCommand, "in_children", True)


def _raise(error: Exception) -> Failure:
    raise error


@pytest.fixture
def busy_core() -> Iterator[None]:
    """Beside the test another process never waits; skipped where the kernel does not tell of it."""
    before = read_activity()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = read_activity()
    if before is None or after is None or after.busy_s <= before.busy_s:
        pytest.skip("the system does not count the processor time of all")
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            yield
        finally:
            other.kill()
