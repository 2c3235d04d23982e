"""Trip counts that are powers of two of a loop counter, as in butterflies of a transform."""

from __future__ import annotations

from texts import facts_of_texts

STEPS = """double x[64][256];
static void step(int b, int l, int m)
{
    int groups = 1 << (m - l);
    int width = l == 0 ? 1 : 2 << (l - 1);
    for (int i = 0; i < groups; i++)
        for (int k = 0; k < width; k++) x[b][i * width + k] += 1.0;
}
void transform(void)
{
#pragma omp parallel for
    for (int b = 0; b < 64; b++)
        for (int l = 0; l <= 7; l++) step(b, l, 7);
}
"""


def test_each_step_counts_with_its_own_power_of_two() -> None:
    """Groups times width is 128 in each of the 8 steps, by hand."""
    (facts,) = facts_of_texts(STEPS)
    (update,) = (own for own in facts.statements if own.accesses)
    assert update.executions.value == 64 * 8 * 128


def test_the_last_iteration_of_a_halved_bound() -> None:
    """n >> l for l from 0 to 9, n = 1000: 1000 + 500 + 250 + 125 + 62 + 31 + 15 + 7 + 3 + 1."""
    (facts,) = facts_of_texts(
        """double x[1000];
void halved(int n) {
#pragma omp parallel for
  for (int b = 0; b < 8; b++)
    for (int l = 0; l < 10; l++)
      for (int i = 0; i < n >> l; i++) x[i] += b;
}
""",
        n=1000,
    )
    (statement,) = facts.statements
    assert statement.executions.value == 8 * 1994
