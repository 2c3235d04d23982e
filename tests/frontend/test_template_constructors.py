"""A loop in a constructor of a class template is that of the classes that the program uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

_CLASS = """\
#include <vector>
template <typename Scalar>
struct Field {
  Field(int cells) : size(cells), values(size) {
#pragma omp parallel for
    for (int i = 0; i < size; ++i)
      values[i] = 0;
  }
  bool operator<(const Field &other) const { return size < other.size; }
  int size;
  std::vector<Scalar> values;
};
"""


@pytest.mark.parametrize(
    "use",
    [
        "int main() { Field<double> field(1000); return field.size; }",
        "typedef Field<double> Any;\nint main() { Any field(1000); return field.size; }",
        "int main() { auto *field = new Field<double>(1000); return field->size; }",
    ],
    ids=["by name", "by another name", "new"],
)
def test_the_elements_are_those_of_the_instance(tmp_path: Path, use: str) -> None:
    source = tmp_path / "case.cpp"
    source.write_text(_CLASS + use)
    (facts,) = analyse(requests_for([str(source)]), {}, frontend="libclang").facts
    assert facts.status == "complete", facts.diagnostics
    assert facts.iterations.value == 1000
    written = [access.bytes for one in facts.statements for access in one.statement.accesses]
    assert written == [8]


def test_each_instance_is_a_region(tmp_path: Path) -> None:
    source = tmp_path / "case.cpp"
    source.write_text(
        _CLASS + "int main() { Field<double> a(10); Field<float> b(20); return a.size; }"
    )
    facts = analyse(requests_for([str(source)]), {}, frontend="libclang").facts
    assert sorted(one.iterations.value for one in facts) == [10, 20]
