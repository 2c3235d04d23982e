"""Source archives of public packages, from the indexes that this machine is set up for.

Python packages come from pip's index by the simple repository API (PEP 503 and 691), Debian's from
the archives that apt has, with lists of sources of their own. Both are asked for one version.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

_SECONDS = 30
_APT = Path("/etc/apt")


class NotHere(Exception):
    """An archive cannot be had on this machine: no index, no network, or another version."""


def python_source(name: str, version: str, folder: Path) -> None:
    """Unpacks the source archive of a Python package into `folder`."""
    page = f"{_python_index()}/{name}/"
    asked = urllib.request.Request(page, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    try:
        files = json.loads(_read(asked))["files"]
    except (ValueError, KeyError) as error:
        raise NotHere(f"the index has no JSON page of {name}") from error
    ends = f"-{version}.tar.gz"
    found = [one for one in files if one["filename"].endswith(ends)]
    if not found:
        raise NotHere(f"the index has no source of {name} {version}")
    text = _read(urllib.request.Request(found[0]["url"]))
    assert hashlib.sha256(text).hexdigest() == found[0]["hashes"]["sha256"]
    archive = folder.with_suffix(".tar.gz")
    archive.write_bytes(text)
    _unpack(archive, folder)


@cache
def _python_index() -> str:
    from pip._internal.models.index import PyPI

    return (_pip_setting("index-url") or PyPI.simple_url).rstrip("/")


def _pip_setting(name: str) -> str:
    if told := os.environ.get(f"PIP_{name.upper().replace('-', '_')}"):
        return told
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", f"global.{name}"],
        capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=_pip_setting("cert") or None)


def _read(asked: urllib.request.Request) -> bytes:
    try:
        with urllib.request.urlopen(asked, timeout=_SECONDS, context=_certificates()) as answer:
            text: bytes = answer.read()
            return text
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise NotHere(f"no network: {error}") from error


def debian_source(name: str, version: str, folder: Path, lists: Path) -> None:
    """Unpacks the upstream archive of a Debian source package; apt keeps its own in `lists`."""
    if shutil.which("apt-get") is None:
        raise NotHere("no apt-get here")
    options = _apt_options(lists)
    if not (lists / "updated").exists():
        _apt(options, "update", folder=lists)
        (lists / "updated").touch()
    folder.mkdir(exist_ok=True)
    fetched = folder.with_name(f"{folder.name}-archives")
    fetched.mkdir()
    if not _apt(
        options, "source", "--tar-only", "--download-only", f"{name}={version}", folder=fetched
    ):
        raise NotHere(f"apt has no source of {name} {version}")
    (archive,) = (file for file in fetched.iterdir() if re.search(r"\.orig\.tar\.\w+$", file.name))
    _unpack(archive, folder)


def _apt_options(lists: Path) -> list[str]:
    """Lists of Debian's source packages, beside the machine's own and without its lock."""
    sources = lists / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    for part in ("lists/partial", "cache/archives/partial"):
        (lists / part).mkdir(parents=True, exist_ok=True)
    for file in [_APT / "sources.list", *sorted((_APT / "sources.list.d").glob("*"))]:
        text = file.read_text() if file.is_file() else ""
        if "debian-archive-keyring" in text or file.name in ("sources.list", "debian.sources"):
            text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)
            text = re.sub(r"^deb ", "deb-src ", text, flags=re.MULTILINE)
            (sources / file.name).write_text(text)
    settings = {
        "Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": sources,
        "Dir::State::lists": lists / "lists", "Dir::Cache": lists / "cache",
        "Acquire::Retries": 0, "Acquire::http::Timeout": _SECONDS,
    }  # fmt: skip
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _apt(options: list[str], *words: str, folder: Path) -> bool:
    done = subprocess.run(
        ["apt-get", "-q", *options, *words], cwd=folder, capture_output=True, check=False,
        timeout=4 * _SECONDS,
    )  # fmt: skip
    return done.returncode == 0


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    inside = folder.resolve()
    with tarfile.open(archive) as opened:
        # Not by the filter "data", which the first versions of Python 3.10 and 3.11 lack.
        sources = [member for member in opened.getmembers() if member.isfile() or member.isdir()]
        safe = [m for m in sources if (inside / m.name).resolve().is_relative_to(inside)]
        opened.extractall(folder, members=safe)
