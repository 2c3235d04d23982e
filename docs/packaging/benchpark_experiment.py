# Copy to experiments/PROGRAM/experiment.py of Benchpark. The program runs on 1 thread, on the
# recommended number of threads (`regionpredict predict --format json`), and on all cores of a node.
import json

from benchpark.directives import maintainers, variant
from benchpark.experiment import Experiment
from benchpark.openmp import OpenMPExperiment


class RecommendedThreads(Experiment, OpenMPExperiment):
    variant("workload", default="problem", description="workload to run")
    variant("hints", default="hints.json", description="output of regionpredict predict")
    maintainers("regionpredict")

    def compute_applications_section(self):
        with open(self.spec.variants["hints"][0], encoding="utf-8") as file:
            threads = json.load(file)["program"]["threads"]
        self.add_experiment_variable("n_nodes", 1, True)
        self.add_experiment_variable("n_ranks", 1, True)
        self.add_experiment_variable("n_threads_per_proc", ["1", str(threads), "{sys_cores_per_node}"], True)
        self.add_experiment_variable("omp_places", "cores")
        self.add_experiment_variable("omp_proc_bind", "close")
