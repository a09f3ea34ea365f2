// TypeScript's language service over one package: a line of {path: text} in, a line of diagnostics out.
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');

const [compiler, root, folder] = process.argv.slice(2);
const ts = require(compiler);

const options = {
  target: ts.ScriptTarget.ES2020,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.esnext.disposable.d.ts'],
  types: [],
  strict: true,
  noEmit: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  noImplicitOverride: true,
  declaration: true,
  isolatedDeclarations: true,
  allowImportingTsExtensions: true,
};

/** Texts put in place of the package's own, each with its version. */
const texts = new Map();
let version = 0;
const own = [];
(function collect(at) {
  for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
    const file = path.join(at, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') collect(file);
    else if (entry.name.endsWith('.ts') && !entry.name.includes('.test.')) own.push(file);
  }
})(root);

const host = {
  getScriptFileNames: () => [...new Set([...own, ...texts.keys()])],
  getScriptVersion: (file) => (texts.has(file) ? `v${texts.get(file).version}` : '0'),
  getScriptSnapshot: (file) => {
    if (texts.has(file)) return ts.ScriptSnapshot.fromString(texts.get(file).text);
    return fs.existsSync(file) ? ts.ScriptSnapshot.fromString(fs.readFileSync(file, 'utf8')) : undefined;
  },
  getCurrentDirectory: () => root,
  getCompilationSettings: () => options,
  getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
  fileExists: (file) => texts.has(file) || ts.sys.fileExists(file),
  readFile: (file) => (texts.has(file) ? texts.get(file).text : ts.sys.readFile(file)),
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host, ts.createDocumentRegistry());

const SEVERITY = [2, 1, 4, 3];

function of(name, source, one) {
  const place = (offset) => source.getLineAndCharacterOfPosition(offset);
  const { line, character } = place(one.start);
  const end = place(one.start + one.length);
  return {
    file: name,
    range: { start: { line, character }, end },
    severity: SEVERITY[one.category],
    code: String(one.code),
    source: 'ts',
    message: ts.flattenDiagnosticMessageText(one.messageText, '\n'),
  };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  texts.clear();
  version += 1;
  const names = new Map();
  for (const [name, text] of Object.entries(JSON.parse(line))) {
    const file = path.join(root, folder, name);
    texts.set(file, { text, version });
    names.set(file, name);
  }
  const out = [];
  for (const [file, name] of names) {
    const found = [
      ...service.getSyntacticDiagnostics(file),
      ...service.getSemanticDiagnostics(file),
      ...service.getSuggestionDiagnostics(file),
    ];
    const source = service.getProgram().getSourceFile(file);
    out.push(...found.filter((one) => one.start !== undefined).map((one) => of(name, source, one)));
  }
  process.stdout.write(JSON.stringify(out) + '\n');
});
