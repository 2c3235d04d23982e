"""Every data set, and the file that it is read from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import data_bandwidth
import data_game_of_life
import data_lattice
import data_lulesh
import data_machines
import data_npb
import data_stencils
import data_vectors
from measured import DataSet, Reader


class Source(NamedTuple):
    """A file of measurements and how it is read."""

    file: str
    read: Reader


SOURCES: tuple[Source, ...] = (
    Source("stencil_scaling.csv", data_stencils.read),
    Source("bandwidth_by_cores.csv", data_bandwidth.read_memory),
    Source("bandwidth_by_cores.csv", data_bandwidth.read_caches),
    Source("barrier_cycles.csv", data_machines.read_barriers),
    Source("stream_triad.csv", data_machines.read_stream),
    Source("lulesh_scaling.csv", data_lulesh.read_program),
    Source("lulesh_kernels.csv", data_lulesh.read_kernels),
    Source("ntua_8core_game_of_life.csv", data_game_of_life.read),
    Source("dot_cascadelake.csv", data_vectors.read_dot),
    Source("dot_cascadelake.csv", data_vectors.read_dot_on_hardware_threads),
    Source("random_read.csv", data_vectors.read_gather),
    Source("mdrange_packages.csv", data_lattice.read),
    Source("openmp_programs_cascadelake.csv", data_npb.read_cascade_lake),
    Source("openmp_programs_cascadelake.csv", data_npb.read_spread),
    Source("openmp_programs_cascadelake.csv", data_npb.read_hardware_threads),
    Source("multicore_programs.csv", data_npb.read_opteron_xeon),
    Source("multicore_programs.csv", data_npb.read_xeon_hardware_threads),
)


def read_all(folder: Path) -> tuple[DataSet, ...]:
    """Every data set whose file is in the folder, and has rows of it."""
    read = [s.read(folder / s.file) for s in SOURCES if (folder / s.file).is_file()]
    return tuple(data for data in read if data.cases)
