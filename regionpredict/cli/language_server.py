"""The language server: answers an editor from the last prediction of a file."""

from __future__ import annotations

import logging
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from regionpredict import __version__
from regionpredict.cli.editor_predictions import Choices, predict_file
from regionpredict.errors import InputError, UsageError
from regionpredict.ir import Span
from regionpredict.report.document_text import document_text
from regionpredict.report.editor_notes import Finding, HintNote, findings, hint_notes
from regionpredict.report.explanation import region_document

if TYPE_CHECKING:
    from regionpredict.pipeline import Predictions

_SOURCE = "regionpredict"
_WHOLE_LINE = 1 << 16  # characters: editors use the end of the line for larger numbers


class _Predicted(NamedTuple):
    hints: list[HintNote]
    edits: list[tuple[Finding, str]]
    result: Predictions


class _AnsweringProtocol(LanguageServerProtocol):
    """The language server protocol, with responses to invalid requests, since an editor waits for a
    response.
    """

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor ended the session before it disconnected."""
        return self._shutdown

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Converts a message to a typed value. Invalid parameters cause an error response."""
        if not isinstance(
            data.get("id", ""), (int, str, NoneType)
        ):  # a response needs the id of its request
            raise JsonRpcInvalidRequest("an id is a number or a string")
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        """Answers a message. A request after the end of the session is an error."""
        request = getattr(message, "id", None)
        if self._shutdown and request is not None and hasattr(message, "method"):
            error = JsonRpcInvalidRequest("the session was shut down")
            self._send_response(request, error=error.to_response_error())
            return
        super().handle_message(message)


def serve(choices: Choices) -> int:
    """Serves an editor until it ends the session.

    Returns exit code 1 if the editor disconnects without ending it. Raises InputError if a message
    is too long for the memory.
    """
    # An invalid request gets an error response. A traceback on standard error would not be read.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = LanguageServer(
        _SOURCE,
        __version__,
        text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
        protocol_cls=_AnsweringProtocol,
    )
    known: dict[str, _Predicted] = {}

    def predict_uri(uri: str) -> None:
        document = server.workspace.get_text_document(uri)
        root = server.workspace.root_path
        try:
            result = predict_file(Path(document.path), Path(root) if root else None, choices)
        except (InputError, UsageError) as error:
            known.pop(uri, None)
            span = Span(document.path, getattr(error, "line", None) or 1, 1)
            diagnostics = [_to_diagnostic(Finding("RP004", span, str(error)))]
        else:
            lines = dict(enumerate((line.rstrip("\r\n") for line in document.lines), 1))
            noted = findings(result.predictions, result.advice, choices.machine, document.path)
            notes = hint_notes(result.predictions, document.path, result.recommended)
            written = [(finding, finding.edited(lines.get(finding.span.line))) for finding in noted]
            edits = [(finding, edit) for finding, edit in written if edit is not None]
            known[uri] = _Predicted(notes, edits, result)
            diagnostics = [_to_diagnostic(finding) for finding in noted]
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))
        if _can_refresh_lenses(server):
            server.workspace_code_lens_refresh(None)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        predict_uri(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        predict_uri(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        known.pop(uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        of_file = known.get(params.text_document.uri)
        return [] if of_file is None else [_to_lens(hint) for hint in of_file.hints]

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        of_file, line = known.get(params.text_document.uri), params.position.line + 1
        for hint in of_file.hints if of_file is not None else ():
            if of_file is not None and hint.line <= line <= hint.last:
                text = _derivation_text(of_file.result, hint.region)
                return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```\n{text}```"))
        return None

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, asked = params.text_document.uri, params.range
        of_file = known.get(uri)
        return [
            _to_code_action(uri, finding, edit)
            for finding, edit in (of_file.edits if of_file is not None else ())
            if asked.start.line <= finding.span.line - 1 <= asked.end.line
        ]

    try:
        server.start_io()
    except (ValueError, OverflowError, MemoryError):
        raise InputError(
            "standard input: the length of a message is impossible",
            remedy="let an editor start the command",
        ) from None
    protocol = server.protocol
    assert isinstance(protocol, _AnsweringProtocol)
    return 0 if protocol.was_shut_down else 1


def _can_refresh_lenses(server: LanguageServer) -> bool:
    workspace = server.client_capabilities.workspace
    return bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)


def _derivation_text(result: Predictions, region: str) -> str:
    (chosen,) = (
        prediction for prediction in result.predictions if prediction.facts.region.id == region
    )
    return document_text(region_document(chosen, result.machine))


def _line_range(line: int, first: int = 0, last: int = _WHOLE_LINE) -> lsp.Range:
    """Returns a range within one line. Lines count from 1, characters from 0."""
    return lsp.Range(lsp.Position(line - 1, first), lsp.Position(line - 1, last))


def _to_diagnostic(finding: Finding) -> lsp.Diagnostic:
    severity = (
        lsp.DiagnosticSeverity.Warning if finding.warns else lsp.DiagnosticSeverity.Information
    )
    return lsp.Diagnostic(
        _line_range(max(finding.span.line, 1), max(finding.span.column - 1, 0)),
        finding.text,
        severity,
        finding.rule,
        source=_SOURCE,
    )


def _to_lens(note: HintNote) -> lsp.CodeLens:
    # A command without a name is a title without an action.
    return lsp.CodeLens(_line_range(note.line), lsp.Command(title=note.text, command=""))


def _to_code_action(uri: str, finding: Finding, line: str) -> lsp.CodeAction:
    edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(_line_range(finding.span.line), line)]})
    return lsp.CodeAction(
        title=f"{finding.rule}: {finding.text}", kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[_to_diagnostic(finding)], edit=edit,
    )  # fmt: skip
