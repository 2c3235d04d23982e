"""Computes the limits of a node and the operations of a region for a roofline plot (Williams,
Waterman, Patterson 2009).
"""

from __future__ import annotations

from regionpredict.machine import Machine
from regionpredict.machine.kernels import KERNELS
from regionpredict.predict.estimate import Prediction
from regionpredict.predict.saturation.model import size_target
from regionpredict.workload import statement_table

_DOUBLE = 64  # bits
_FLOAT = ("fp_add", "fp_mul", "fp_div", "fp_sqrt", "fp_fma")


def float_operations(prediction: Prediction, machine: Machine) -> int | None:
    """Returns the number of floating-point operations in one execution of a region. A fused
    multiply-add counts twice. None if a number of executions is unknown.
    """
    count = 0
    table = statement_table(prediction.facts, machine.line_bytes, size_target(machine))
    for statement in table.statements:
        own = sum(number * (2 if kind == "fp_fma" else 1) for kind, number in statement.operations
                  if kind in _FLOAT)  # fmt: skip
        if own and statement.executions is None:
            return None
        count += own * (statement.executions or 0)
    return count


def peak_operations(machine: Machine) -> float:
    """Returns the peak floating-point operations per second of all cores, with full vectors of
    doubles and fused operations if they are faster.

    The machine's throughputs are cycles between two scalar operations. Vector operations take
    equally long.
    """
    core = machine.processor
    add, mul, fma = (machine.operation(kind).throughput_cycles.value
                     for kind in ("fp_add", "fp_mul", "fp_fma"))  # fmt: skip
    pipes = core.fp_pipes.value / max(core.fp_add_pipes.value * add, core.fp_mul_pipes.value * mul)
    cycle = max(min(1 / add + 1 / mul, pipes), 2 / fma)
    return cycle * machine.simd_bits / _DOUBLE * machine.clock_hz * machine.cores


def memory_traffic(machine: Machine) -> float:
    """Returns the largest memory bandwidth of all domains over all kernels, in B/s. Write-allocate
    traffic is included.
    """
    cores = machine.cores_per_domain
    read_first = machine.write_allocate(cores)
    best = max(
        curve.at(cores) * (1 + read_first * KERNELS[name].allocates / KERNELS[name].application)
        for name, curve in machine.memory.bandwidth.items()
    )
    total = best * machine.domains
    shared = machine.memory.shared_path
    return total if shared is None else min(total, shared.traffic_bytes_per_s.value)
