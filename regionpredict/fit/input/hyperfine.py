"""Reads hyperfine's JSON: `--export-json FILE`, with a parameter scan (`-P`, `-L`)."""

from __future__ import annotations

from collections.abc import Sequence

from regionpredict.fit.experiment import Experiment
from regionpredict.fit.input.variables import Measurement, experiment_of, number_of
from regionpredict.json_records import Record


def read_hyperfine(data: Record, parameters: Sequence[str] | None = None) -> Experiment:
    """Reads the wall time of each run in seconds, over the scanned parameters.

    A series is named after its command, with the parameters' names instead of their values. Raises
    the same errors as `experiment_of`.
    """
    rows = []
    for entry in data.inner_records("results"):
        variables = entry.inner("parameters").value if "parameters" in entry.value else {}
        times = [float(value) for value in entry.items("times")]
        rows.append(
            Measurement(
                _command_template(entry.text("command"), variables), "time", variables, times
            )
        )
    return experiment_of(rows, data.path, parameters=parameters)


def _command_template(command: str, variables: dict[str, object]) -> str:
    """Returns the command with the numbers replaced by the names of their parameters.

    >>> _command_template("run -n 16 --p=6", {"n": "16", "p": "6"})
    'run -n {n} --p={p}'
    """
    numbers = {
        str(value): name for name, value in variables.items() if number_of(value) is not None
    }
    arguments = []
    for word in command.split(" "):
        head, equals, tail = word.rpartition("=")
        name = numbers.get(tail)
        arguments.append(f"{head}{equals}{{{name}}}" if name is not None else word)
    return " ".join(arguments)
