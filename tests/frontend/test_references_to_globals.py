"""Global variables that C++ code passes by reference may change, although no `&` is in the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.frontend import requests_for
from regionpredict.pipeline import analyse

TEXT = """#include <algorithm>
#include <iostream>
#include <vector>
void get(int &m);
void look(const int &m);
struct Reader { Reader &operator>>(int &m); int &next(); };
extern Reader reader;
double a[1000];
int n = 3;
std::vector<int> seen;
int main()
{
    %s
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1.0;
}
"""


@pytest.mark.parametrize(
    ("use", "count"),
    further_slow(
        4,
        [
            ("get(n);", None),
            ("look(n);", 3),
            ("int &other = n; other = 5;", 5),
            ("std::cin >> n;", None),
            ("reader >> n;", None),
            ("std::swap(n, *(int *)a);", None),
            ("seen.push_back(n);", 3),
            ("a[0] = std::max(n, 2);", 3),
            ("std::cout << n;", 3),
        ],
    ),
)
def test_a_reference_may_change_a_global(use: str, count: int | None, tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text(TEXT % use)
    (facts,) = analyse(requests_for([str(tmp_path / "f.cpp")]), {}, frontend="libclang").facts
    assert facts.iterations.value == count
