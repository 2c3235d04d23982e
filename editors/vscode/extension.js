// Hints of `regionpredict lsp` in Visual Studio Code: code lenses, hovers, diagnostics, quick fixes.
'use strict';

const vscode = require('vscode');
const { Connection } = require('./connection');

const LANGUAGES = ['c', 'cpp'];
let connection = null;
let ready = null;
let diagnostics = null;
let lensesChanged = null;

function start() {
  const command = vscode.workspace.getConfiguration('regionpredict').get('command');
  const folders = vscode.workspace.workspaceFolders || [];
  const folder = folders.length ? folders[0].uri : null;
  connection = new Connection(command, folder ? folder.fsPath : undefined, heard, (reason) => {
    if (connection) vscode.window.showWarningMessage(`regionpredict: ${reason}`);
    connection = null;
  });
  ready = connection
    .request('initialize', {
      processId: process.pid,
      rootUri: folder ? folder.toString() : null,
      capabilities: {
        textDocument: {
          codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix'] } } },
          hover: { contentFormat: ['markdown', 'plaintext'] },
        },
      },
    })
    .then(() => {
      connection.notify('initialized', {});
      vscode.workspace.textDocuments.forEach(opened);
    })
    .catch(() => {}); // its end was told
}

async function stop() {
  const ending = connection;
  connection = null; // its end is wanted
  return ending ? ending.stop() : undefined;
}

function heard(method, params) {
  if (method === 'textDocument/publishDiagnostics') {
    diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
    lensesChanged.fire();
  } else if (method === 'window/showMessage') {
    vscode.window.showInformationMessage(params.message);
  }
}

function concerns(document) {
  return LANGUAGES.includes(document.languageId) && document.uri.scheme === 'file';
}

function opened(document) {
  if (!concerns(document) || !connection) return;
  connection.notify('textDocument/didOpen', {
    textDocument: {
      uri: document.uri.toString(),
      languageId: document.languageId,
      version: document.version,
      text: document.getText(),
    },
  });
}

function told(method, document) {
  if (concerns(document) && connection) {
    connection.notify(method, { textDocument: { uri: document.uri.toString() } });
  }
}

async function asked(method, document, more) {
  await ready;
  if (!connection) return null;
  return connection
    .request(method, { textDocument: { uri: document.uri.toString() }, ...more })
    .catch(() => null);
}

function toRange(range) {
  return new vscode.Range(
    range.start.line, range.start.character, range.end.line, range.end.character,
  );
}

function fromRange(range) {
  return { start: fromPosition(range.start), end: fromPosition(range.end) };
}

function fromPosition(position) {
  return { line: position.line, character: position.character };
}

function toDiagnostic(one) {
  const made = new vscode.Diagnostic(toRange(one.range), one.message, (one.severity || 3) - 1);
  made.code = one.code;
  made.source = one.source;
  return made;
}

async function codeLenses(document) {
  const found = (await asked('textDocument/codeLens', document)) || [];
  return found.map((one) => new vscode.CodeLens(toRange(one.range), {
    title: one.command.title, command: '', // nothing happens when it is clicked
  }));
}

async function hover(document, position) {
  const found = await asked('textDocument/hover', document, { position: fromPosition(position) });
  if (!found) return null;
  const contents = found.contents;
  const text = new vscode.MarkdownString();
  if (contents.kind === 'markdown') text.appendMarkdown(contents.value);
  else text.appendText(contents.value === undefined ? String(contents) : contents.value);
  return new vscode.Hover(text, found.range && toRange(found.range));
}

async function codeActions(document, range) {
  const found = (await asked('textDocument/codeAction', document, {
    range: fromRange(range), context: { diagnostics: [] },
  })) || [];
  return found.map((one) => {
    const made = new vscode.CodeAction(one.title, vscode.CodeActionKind.QuickFix);
    made.edit = new vscode.WorkspaceEdit();
    const changes = (one.edit && one.edit.changes) || {};
    for (const [uri, edits] of Object.entries(changes)) {
      for (const edit of edits) {
        made.edit.replace(vscode.Uri.parse(uri), toRange(edit.range), edit.newText);
      }
    }
    for (const change of (one.edit && one.edit.documentChanges) || []) {
      for (const edit of change.edits) {
        made.edit.replace(vscode.Uri.parse(change.textDocument.uri), toRange(edit.range), edit.newText);
      }
    }
    return made;
  });
}

function activate(context) {
  diagnostics = vscode.languages.createDiagnosticCollection('regionpredict');
  lensesChanged = new vscode.EventEmitter();
  context.subscriptions.push(
    diagnostics,
    lensesChanged,
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidSaveTextDocument((document) => told('textDocument/didSave', document)),
    vscode.workspace.onDidCloseTextDocument((document) => {
      told('textDocument/didClose', document);
      diagnostics.delete(document.uri);
    }),
    vscode.languages.registerCodeLensProvider(LANGUAGES, {
      onDidChangeCodeLenses: lensesChanged.event, provideCodeLenses: codeLenses,
    }),
    vscode.languages.registerHoverProvider(LANGUAGES, { provideHover: hover }),
    vscode.languages.registerCodeActionsProvider(LANGUAGES, { provideCodeActions: codeActions }),
    vscode.commands.registerCommand('regionpredict.restart', async () => {
      await stop();
      start();
    }),
  );
  start();
}

module.exports = { activate, deactivate: stop };
