"""A ReFrame test that runs a program on the recommended number of threads, and on all cores.

    reframe -c docs/packaging/reframe_check.py -r

Set `sourcesdir` to your program and `hints` to its hints (`predict --format json`).
"""

import json

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class RecommendedThreads(rfm.RegressionTest):
    """The recommended threads are not slower than all cores."""

    hints = variable(str, value="hints.json")
    choice = parameter(["recommended", "all"])
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = "src"
    build_system = "Make"
    executable = "./program"

    @run_before("run")
    def set_threads(self):
        """Takes the threads from the program's recommendation."""
        if self.choice == "all":
            threads = self.current_partition.processor.num_cores
        else:
            with open(self.hints, encoding="utf-8") as file:
                threads = json.load(file)["program"]["threads"]
        self.num_cpus_per_task = threads
        self.env_vars = {
            "OMP_NUM_THREADS": threads,
            "OMP_PLACES": "cores",
            "OMP_PROC_BIND": "close",
        }

    @sanity_function
    def has_finished(self):
        """Holds where the program printed something."""
        return sn.assert_found(r".", self.stdout)

    @performance_function("s")
    def seconds(self):
        """The run time that the program prints as `seconds: 1.25`."""
        return sn.extractsingle(r"seconds:\s*(\S+)", self.stdout, 1, float)
