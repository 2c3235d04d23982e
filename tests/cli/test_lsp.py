"""`regionpredict lsp` as an editor meets it: a client of the protocol and a process."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from further_cases import further_slow
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

CODE = """\
#define N 4000000
static double a[N], b[N];
void copy(void)
{
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < N; i++) a[i] = b[i];
}
void sum(void)
{
#pragma omp parallel for
    for (int i = 1; i < N; i++) a[i] += a[i - 1];
}
"""
MENDED = CODE.replace("schedule(dynamic)", "schedule(static)")
PATIENCE_S = 300.0


class Editor:
    """One open file, and what the server told of it."""

    def __init__(self, client: LanguageClient, file: Path) -> None:
        self.client = client
        self.uri = file.as_uri()
        self.file = file
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.put_nowait(params)

    @property
    def document(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)

    async def diagnostics(self) -> dict[str, lsp.Diagnostic]:
        told = await asyncio.wait_for(self.told.get(), PATIENCE_S)
        assert told.uri == self.uri
        return {str(one.code): one for one in told.diagnostics}

    def open(self) -> None:
        item = lsp.TextDocumentItem(self.uri, "c", 1, self.file.read_text())
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def save(self, text: str) -> None:
        self.file.write_text(text)
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(2, self.uri),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(self.document))

    async def lenses(self) -> dict[int, str]:
        """Titles by line, from 1."""
        found = await self.client.text_document_code_lens_async(lsp.CodeLensParams(self.document))
        return {one.range.start.line + 1: one.command.title for one in found or () if one.command}


def in_an_editor(file: Path, steps: Callable[[Editor], Awaitable[None]], *words: str) -> None:
    async def session() -> None:
        client = LanguageClient("test", "1")
        editor = Editor(client, file)
        await client.start_io(sys.executable, "-m", "regionpredict", "lsp", *words)
        await asyncio.wait_for(
            client.initialize_async(
                lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=file.parent.as_uri())
            ),
            PATIENCE_S,
        )
        client.initialized(lsp.InitializedParams())
        await steps(editor)
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE_S)
        client.exit(None)
        await asyncio.wait_for(client.stop(), PATIENCE_S)

    asyncio.run(session())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.c"
    path.write_text(CODE)
    return path


def test_hints_stand_above_the_loops_and_findings_at_their_lines(file: Path) -> None:
    async def steps(editor: Editor) -> None:
        editor.open()
        told = await editor.diagnostics()
        assert set(told) == {"RP202", "RP221"}
        assert told["RP202"].range.start.line + 1 == 5
        assert told["RP221"].range.start.line + 1 == 11
        assert told["RP221"].severity == lsp.DiagnosticSeverity.Warning
        assert told["RP202"].severity == lsp.DiagnosticSeverity.Information
        lenses = await editor.lenses()
        assert set(lenses) == {1, 5, 10}
        assert lenses[1].startswith("Use "), "the whole program's hint"
        assert lenses[5].startswith("1 package, 1 thread: 1.0x, overhead (")

    in_an_editor(file, steps, "-m", "dunnington")


def test_an_action_mends_the_line_and_the_hint_follows(file: Path) -> None:
    async def steps(editor: Editor) -> None:
        editor.open()
        told = await editor.diagnostics()
        line = told["RP202"].range
        (action,) = await editor.client.text_document_code_action_async(
            lsp.CodeActionParams(editor.document, line, lsp.CodeActionContext([told["RP202"]]))
        ) or ()  # fmt: skip
        assert isinstance(action, lsp.CodeAction)
        assert action.edit is not None
        ((edit,),) = (action.edit.changes or {}).values()
        lines = CODE.splitlines()
        lines[edit.range.start.line] = edit.new_text
        assert "\n".join(lines) + "\n" == MENDED
        editor.save(MENDED)
        assert set(await editor.diagnostics()) == {"RP221"}
        assert (await editor.lenses())[5].startswith("2 packages, ")

    in_an_editor(file, steps, "-m", "dunnington")


def test_hovering_over_a_loop_derives_its_hint(file: Path) -> None:
    async def steps(editor: Editor) -> None:
        editor.open()
        await editor.diagnostics()
        ask = editor.client.text_document_hover_async
        over = await ask(lsp.HoverParams(editor.document, lsp.Position(4, 3)))
        assert over is not None
        assert isinstance(over.contents, lsp.MarkupContent)
        assert "omp parallel for in copy" in over.contents.value
        assert await ask(lsp.HoverParams(editor.document, lsp.Position(0, 0))) is None

    in_an_editor(file, steps, "-m", "dunnington")


def test_a_file_that_cannot_be_read_is_told_and_comes_back(file: Path) -> None:
    async def steps(editor: Editor) -> None:
        file.write_text("\0" * 100)
        editor.open()
        assert set(await editor.diagnostics()) == {"RP004"}
        assert await editor.lenses() == {}
        editor.save(CODE)
        assert set(await editor.diagnostics()) == {"RP202", "RP221"}

    in_an_editor(file, steps, "-m", "dunnington")


def test_a_project_says_once_which_machine_and_how_a_file_is_compiled(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size is known by compile_commands.json alone, the machine by regionpredict.toml."""
    folder = file.parent
    file.write_text(CODE.replace("#define N 4000000\n", "\n"))
    (folder / "compile_commands.json").write_text(
        f'[{{"directory": "{folder}", "file": "a.c", "command": "gcc -fopenmp -DN=50 -c a.c"}}]'
    )
    (folder / "regionpredict.toml").write_text('machine = "dunnington"\n')

    async def steps(editor: Editor) -> None:
        editor.open()
        assert "RP221" in await editor.diagnostics()
        assert "1 thread" in (await editor.lenses())[10]

    monkeypatch.chdir(folder)
    in_an_editor(file, steps)


def test_without_a_machine_it_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "--no-config", "lsp"], capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no machine; add -m" in done.stderr


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "editors.md").read_text("utf-8")


def commands_of_page() -> list[list[str]]:
    """What each editor's configuration on the page starts, word for word."""
    blocks = re.findall(r"```(?:lua|lisp|toml)\n(.*?)```", PAGE, re.DOTALL)
    return [re.findall(r"['\"](lsp|-m|dunnington)['\"]", block) for block in blocks]


def test_who_follows_the_page_reaches_a_hint(file: Path) -> None:
    """Neovim's, Emacs's and Helix's configuration start one server, which tells a loop's hint."""
    neovim, emacs, helix = commands_of_page()
    assert neovim == emacs == helix == ["lsp", "-m", "dunnington"]

    async def steps(editor: Editor) -> None:
        editor.open()
        await editor.diagnostics()
        assert (await editor.lenses())[5].startswith("1 package, 1 thread: ")

    in_an_editor(file, steps, *neovim[1:])


def framed(message: dict[str, object]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def answers(text: bytes) -> list[dict[str, Any]]:
    parts = re.split(rb"Content-Length: \d+\r\n(?:Content-Type: [^\r]*\r\n)?\r\n", text)
    return [json.loads(part) for part in parts if part]


START = framed({"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None,
                                                            "capabilities": {}}})  # fmt: skip
SHUTDOWN = framed({"id": 2, "method": "shutdown"})
EXIT = framed({"method": "exit"})
HOVER = {"id": 3, "method": "textDocument/hover", "params": {"bogus": 1}}


@pytest.mark.parametrize(
    ("sent", "code"),
    further_slow(
        2, [(START + SHUTDOWN + EXIT, 0), (START + EXIT, 1), (START + SHUTDOWN, 0), (START, 1)]
    ),
)
def test_the_exit_code_says_whether_the_session_was_shut_down(sent: bytes, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "lsp", "-m", "dunnington"], input=sent,
        capture_output=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.parametrize("digits", [16, 25, 5000])
def test_a_message_of_impossible_length_is_one_line(digits: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "lsp", "-m", "dunnington"], timeout=PATIENCE_S,
        input=START + b"Content-Length: " + b"9" * digits + b"\r\n\r\n{}", capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"the length of a message is impossible" in done.stderr


def test_each_request_is_answered_valid_or_not() -> None:
    sent = (
        START + framed(HOVER) + framed({**HOVER, "id": 4, "params": [3]})
        + framed({"id": 5, "method": "nonsense", "params": {}})
        + framed({"id": {}, "method": "textDocument/hover", "params": {}}) + SHUTDOWN
        + framed({"id": 6, "method": "textDocument/hover", "params": {
            "textDocument": {"uri": "file:///a.c"}, "position": {"line": 0, "character": 0}}})
        + EXIT
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "regionpredict", "lsp", "-m", "dunnington"], input=sent,
        capture_output=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    codes = {one["id"]: one.get("error", {}).get("code") for one in answers(done.stdout)
             if "id" in one}  # fmt: skip
    # JSON-RPC 2.0, sec. 5.1: invalid parameters, unknown method, invalid request
    # A request whose id is an object has no response, which could not name it.
    assert codes == {1: None, 2: None, 3: -32602, 4: -32602, 5: -32601, 6: -32600}
