"""Analyzes task graphs of programs: metrics, time on any number of threads, and isoefficiency.

Input: a recording or a file (`read_task_graph`). Output: `GraphMetrics` (`measure_graph`: work,
depth, average parallelism, concurrency), run times without contention (`simulate`, `replay`), and
results of efficiencies over threads and sizes (`isoefficiency`).
"""

from regionpredict.tasks.metrics import GraphMetrics, measure_graph
from regionpredict.tasks.read_graph import read_task_graph
from regionpredict.tasks.scheduler import simulate
from regionpredict.tasks.task_graph import TaskGraph, graph_of_tasks

__all__ = [
    "GraphMetrics",
    "TaskGraph",
    "graph_of_tasks",
    "measure_graph",
    "read_task_graph",
    "simulate",
]
