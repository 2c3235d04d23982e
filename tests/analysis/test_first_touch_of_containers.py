"""The construction of a container writes its elements, on the thread that constructs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.analysis.history.first_touch import placements_of_regions
from regionpredict.analysis.history.first_writes import simulate_first_writes
from regionpredict.frontend import read, requests_for

TEXT = """#include <vector>
#include <memory>
struct Mesh {
  std::vector<double> x;
  Mesh(int n) @members
};
void kernel(double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) x[i] += 1.0;
}
int main() {
  int n = 1000;
  @main
}
"""
CASES = {
    "number of elements": ("", "std::vector<double> x(n); kernel(x.data(), n);", "serial"),
    "and a value": ("", "std::vector<double> x(n, 1.0); kernel(&x[0], n);", "serial"),
    "resize": ("", "std::vector<double> x; x.resize(n); kernel(x.data(), n);", "serial"),
    "assign": ("", "std::vector<double> x; x.assign(n, 0.0); kernel(x.data(), n);", "serial"),
    "assignment": ("", "std::vector<double> x; x = std::vector<double>(n); kernel(&x[0], n);",
                   "serial"),
    "member": (": x(n) {}", "Mesh m(n); kernel(m.x.data(), n);", "serial"),
    "in the constructor": ("{ x.resize(n); }", "Mesh m(n); kernel(m.x.data(), n);", "serial"),
    "no initial values": ("", "double *x = new double[n]; kernel(x, n); kernel(x, n);", "parallel"),
    "in a parallel loop": ("", "double *x = new double[n];\n#pragma omp parallel for\n"
                           "for (int i = 0; i < n; i++) x[i] = 0;\nkernel(x, n);", "parallel"),
}  # fmt: skip


@pytest.mark.parametrize("name", further_slow(6, CASES))
def test_the_first_writer_of_a_vector(tmp_path: Path, name: str) -> None:
    members, main, kind = CASES[name]
    path = tmp_path / "f.cpp"
    path.write_text(TEXT.replace("@members", members or "{}").replace("@main", main))
    program = read(requests_for([str(path)]), "libclang", flows=True)
    found = dict(zip(
        (region.function for region in program.regions),
        placements_of_regions(program, simulate_first_writes(program.flows)), strict=True,
    ))  # fmt: skip
    (placed,) = found["kernel"].arrays
    assert (placed.kind, placed.assumed) == (kind, False)
