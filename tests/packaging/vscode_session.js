// Runs the extension with what it uses of the editor, on one file, and prints what is shown.
'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');
const { pathToFileURL, fileURLToPath } = require('url');

const [extension, file, ...command] = process.argv.slice(2);
const listeners = {};
const providers = {};
const shown = {};
let published;
const diagnosed = new Promise((resolve) => { published = resolve; });

const on = (name) => (listener) => { listeners[name] = listener; return { dispose() {} }; };
const uri = (text) => ({
  scheme: 'file', fsPath: fileURLToPath(text), toString: () => text,
});
class Kept { constructor(...values) { this.values = values; } }
const document = {
  uri: uri(pathToFileURL(file).href), languageId: 'c', version: 1,
  getText: () => fs.readFileSync(file, 'utf8'),
};
const register = (kind) => (languages, provider) => { providers[kind] = provider; return {}; };
const editor = {
  workspace: {
    getConfiguration: () => ({ get: () => command }),
    workspaceFolders: [{ uri: uri(pathToFileURL(path.dirname(file)).href) }],
    textDocuments: [document],
    onDidOpenTextDocument: on('open'),
    onDidSaveTextDocument: on('save'),
    onDidCloseTextDocument: on('close'),
  },
  window: {
    showWarningMessage: (text) => { shown.warning = text; published([]); },
    showInformationMessage: (text) => { shown.information = text; },
  },
  languages: {
    createDiagnosticCollection: () => ({ set: (_, found) => published(found), delete() {} }),
    registerCodeLensProvider: register('lens'),
    registerHoverProvider: register('hover'),
    registerCodeActionsProvider: register('action'),
  },
  commands: { registerCommand: () => ({}) },
  EventEmitter: class { constructor() { this.event = () => {}; } fire() { this.fired = true; } },
  Uri: { parse: uri },
  Range: Kept,
  CodeLens: class { constructor(range, { title }) { this.line = range.values[0]; this.title = title; } },
  Hover: class { constructor(text) { this.text = text.text; } },
  MarkdownString: class {
    constructor() { this.text = ''; }
    appendMarkdown(text) { this.text += text; }
    appendText(text) { this.text += text; }
  },
  Diagnostic: class { constructor(range, message) { this.line = range.values[0]; this.message = message; } },
  CodeAction: class { constructor(title) { this.title = title; } },
  CodeActionKind: { QuickFix: 'quickfix' },
  WorkspaceEdit: class {
    constructor() { this.edits = []; }
    replace(_, range, text) { this.edits.push(text); }
  },
};
const load = Module._load;
Module._load = (name, ...more) => (name === 'vscode' ? editor : load(name, ...more));

async function main() {
  const { activate, deactivate } = require(extension);
  const context = { subscriptions: [] };
  activate(context);
  shown.diagnostics = await diagnosed;
  if (!shown.warning) {
    shown.lenses = await providers.lens.provideCodeLenses(document);
    const line = shown.diagnostics.length ? shown.diagnostics[0].line : 0;
    shown.hover = await providers.hover.provideHover(document, { line, character: 4 });
    const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
    shown.actions = await providers.action.provideCodeActions(document, range);
    listeners.save(document);
    listeners.close(document);
  }
  shown.end = await deactivate();
  process.stdout.write(JSON.stringify(shown));
}

main();
