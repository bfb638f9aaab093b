/** The language server: what editors send, and what they get, by the Language Server Protocol over standard input and output. */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type CodeAction,
  type CompletionItem,
  CompletionItemKind,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  type DocumentSymbol,
  type InitializeResult,
  type Location as LspLocation,
  type Position,
  type Range,
  SymbolKind,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import { IGNORE_FILE, ignoreMatcher } from '../../../catalog/fbc/ignore.ts';
import { splitAtMinor } from '../../../catalog/fbc/openshift.ts';
import type { Finding, Location } from '../../../catalog/finding.ts';
import { correctedLine } from '../../../catalog/yaml/correction.ts';
import { fileDefect } from '../../directory.ts';
import { readRegular } from '../../file-pieces.ts';
import { rulePage } from '../../report/rule-help.ts';
import { linesText, plainLines, plainText } from '../../text.ts';
import { completionsAt, definitionLocation, fileOutline, hoverText, type OutlineItem } from './answers.ts';
import { CatalogFolder, UNCHECKED } from './catalog-folder.ts';
import { findingsOf, isCatalogText } from './other-files.ts';
import { SegmentedText } from './segmented-text.ts';

type Connection = ReturnType<typeof createConnection>;

/** Most bytes of the files beside one that is edited, of all together: the server keeps their texts in memory. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Milliseconds without a change after which what one package does to others is found, too. */
const QUIET = 500;

/** An open file. */
interface Open {
  readonly path: string;
  readonly text: SegmentedText;
  /** The folder whose catalog it is part of; undefined for a file of another kind. */
  folder: CatalogFolder | undefined;
  version: number;
  findings: readonly Finding[];
  /** Whether all of it was checked once. */
  isKnown: boolean;
}

/** Serves one editor until it ends the session. @returns the exit code that the protocol asks for */
export function serveEditor(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<0 | 1> {
  const connection = createConnection(input, output);
  const session = new Session(connection);
  return new Promise((resolve) => {
    session.listen(resolve);
    connection.listen();
  });
}

/** One editor: its open files, the catalogs that they are of, and the checks that wait. */
class Session {
  readonly #connection: Connection;
  readonly #open = new Map<string, Open>();
  readonly #folders = new Map<string, CatalogFolder>();
  /** Checks run one after the other; what came meanwhile is one more. */
  #running: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<string>();
  /** Files of catalogs of which only the changed packages were simulated. */
  readonly #partial = new Set<string>();
  #quiet: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Registers what the server answers. @param end called with the exit code at the end of the session */
  listen(end: (exit: 0 | 1) => void): void {
    const connection = this.#connection;
    let isShutDown = false;
    connection.onInitialize(({ capabilities }) => {
      if (capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration)
        connection.onInitialized(() => this.#watchFiles());
      return CAPABILITIES;
    });
    connection.onDidChangeWatchedFiles(({ changes }) => this.#onChangedOnDisk(changes.map(({ uri }) => uri)));
    connection.onShutdown(() => {
      isShutDown = true;
    });
    // As the protocol has it: an editor that exits without a shutdown has failed.
    connection.onExit(() => end(isShutDown ? 0 : 1));
    connection.onDidOpenTextDocument(({ textDocument: { uri, text, version } }) =>
      this.#onOpened(uri, text, version),
    );
    connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
      const open = this.#open.get(uri);
      if (!open) return;
      for (const change of contentChanges) open.text.change(change);
      open.version = version;
      // A file may begin empty: it is a catalog's once it has a blob.
      if (!open.folder) this.#joinCatalog(open);
      this.#check(uri);
    });
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => this.#onClosed(uri));
    connection.onHover(async ({ textDocument: { uri }, position }) => {
      const asked = await this.#fileAsked(uri);
      const value = asked && hoverText({ ...asked, at: position });
      return value === undefined ? null : { contents: { kind: 'markdown', value: plainMarkdown(value) } };
    });
    connection.onDefinition(async ({ textDocument: { uri }, position }) => {
      const asked = await this.#fileAsked(uri);
      const place = asked && definitionLocation({ ...asked, at: position });
      return place ? lspLocation(place) : null;
    });
    connection.onCompletion(async ({ textDocument: { uri }, position }): Promise<CompletionItem[]> => {
      const asked = await this.#fileAsked(uri);
      return asked
        ? completionsAt({ ...asked, at: position }).map(({ label, kind }) => ({
            label: plainText(label),
            insertText: label,
            kind: COMPLETION_KINDS[kind],
          }))
        : [];
    });
    connection.onDocumentSymbol(async ({ textDocument: { uri } }) => {
      const asked = await this.#fileAsked(uri);
      return asked ? fileOutline(asked.folder, asked.file).map(documentSymbol) : [];
    });
    connection.onCodeAction(async ({ textDocument: { uri }, range }) => {
      await this.#running;
      const open = this.#open.get(uri);
      return open ? open.findings.flatMap((finding) => actionFor({ uri, open, range }, finding)) : [];
    });
  }

  /** Follows a document from now on. For a file of a catalog, the other files of its folder are read as well. */
  #onOpened(uri: string, text: string, version: number): void {
    if (!uri.startsWith('file:')) return;
    const path = fileURLToPath(uri);
    const own = new SegmentedText(text);
    const open = { path, text: own, folder: undefined, version, findings: [], isKnown: false };
    this.#joinCatalog(open);
    this.#open.set(uri, open);
    this.#check(uri);
  }

  /** Makes a document part of the catalog in its folder, if it has blobs of one. */
  #joinCatalog(open: Open): void {
    if (!isCatalogText(open.text.text) || ignoredIn(dirname(open.path))(open.path)) return;
    open.folder = this.#folderOf(open.path);
    open.folder.files.set(open.path, open.text);
    open.isKnown = false;
  }

  /** Forgets a document. Its catalog stays as long as another document of it is open. */
  #onClosed(uri: string): void {
    const open = this.#open.get(uri);
    this.#open.delete(uri);
    void this.#connection.sendDiagnostics({ uri, diagnostics: [] });
    if (!open?.folder) return;
    const [other] = [...this.#open].find(([, { folder }]) => folder === open.folder) ?? [];
    if (other === undefined) {
      this.#folders.delete(dirname(open.path));
      return;
    }
    // What was not saved is gone.
    if (readAgain(open.folder, open.path)) this.#check(other);
  }

  /** Asks the editor to say which files of catalogs something else than it has changed: a switch of the branch, a tool. */
  #watchFiles(): void {
    const watchers = ['**/*.{yaml,yml,json}', `**/${IGNORE_FILE}`].map((globPattern) => ({ globPattern }));
    const { client, console } = this.#connection;
    client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch((error: unknown) => {
      console.error(`the editor does not say which files change: ${String(error)}`);
    });
  }

  /** Reads files again that are beside open ones. Of an open file, the editor's text counts. */
  #onChangedOnDisk(uris: readonly string[]): void {
    const opened = new Set([...this.#open.values()].map(({ path }) => path));
    const changed = new Set<CatalogFolder>();
    for (const path of uris.filter((uri) => uri.startsWith('file:')).map((uri) => fileURLToPath(uri))) {
      if (basename(path) === IGNORE_FILE) this.#rejoinCatalog(dirname(path));
      const folder = this.#folders.get(dirname(path));
      if (folder && !opened.has(path) && readAgain(folder, path)) changed.add(folder);
    }
    // The check of one document finds what is wrong in all open ones of its catalog.
    for (const [uri, { folder }] of this.#open) if (folder && changed.delete(folder)) this.#check(uri);
  }

  /** Reads the catalog of a folder anew: other files of it may be left out now. */
  #rejoinCatalog(directory: string): void {
    this.#folders.delete(directory);
    for (const [uri, open] of this.#open) {
      if (dirname(open.path) !== directory) continue;
      open.folder = undefined;
      this.#joinCatalog(open);
      this.#check(uri);
    }
  }

  /** The catalog of a file: all files of its folder that hold blobs of a catalog. */
  #folderOf(path: string): CatalogFolder {
    const directory = dirname(path);
    const known = this.#folders.get(directory);
    if (known) return known;
    const folder = new CatalogFolder(catalogName(path));
    let left = MOST_BYTES;
    const isIgnored = ignoredIn(directory);
    for (const name of namesIn(directory).filter((one) => /\.(?:ya?ml|json)$/.test(one))) {
      const file = join(directory, name);
      const text = file === path || isIgnored(file) ? undefined : catalogTextAt(file, left);
      if (text === undefined) continue;
      left -= text.length;
      folder.files.set(file, new SegmentedText(text));
    }
    this.#folders.set(directory, folder);
    return folder;
  }

  /**
   * Checks a document soon, together with others that the editor sends at the same time. When that is done, the rest of
   * large catalogs is checked.
   */
  #check(uri: string): void {
    clearTimeout(this.#quiet);
    const isFirst = this.#waiting.size === 0;
    this.#waiting.add(uri);
    // Else a check is waiting already, and takes this document with it.
    if (!isFirst) return;
    this.#running = this.#running.then(async () => {
      // What the editor sent together is checked together.
      await new Promise((resolve) => setImmediate(resolve));
      const uris = [...this.#waiting];
      this.#waiting.clear();
      await this.#checkEach(uris);
      if (this.#waiting.size === 0 && this.#partial.size > 0)
        this.#quiet = setTimeout(() => this.#checkPartial(), QUIET).unref();
    });
  }

  /** Checks catalogs again of which only the changed packages were simulated, now with all packages. */
  #checkPartial(): void {
    const uris = [...this.#partial];
    this.#partial.clear();
    this.#running = this.#running.then(() => this.#checkEach(uris, true));
  }

  /** @param all simulates clusters with all packages, not only with those that changed */
  async #checkEach(uris: readonly string[], all = false): Promise<void> {
    for (const one of uris)
      await this.#checkDocument(one, all).catch((error: unknown) => this.#showFailure(one, error));
  }

  /** What was found before is no longer true: the editor shows that nothing is known. */
  async #showFailure(uri: string, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    this.#connection.console.error(error instanceof Error ? `${why}\n${error.stack ?? ''}` : why);
    const open = this.#open.get(uri);
    if (!open) return;
    const location = { file: open.path, line: 1, column: 1 };
    const message = `this file could not be checked: ${why}`;
    await this.#publish(uri, open, [{ rule: UNCHECKED, severity: 'warning', message, location }]);
  }

  /** Checks a document, with the catalog that it is a part of, and publishes the findings of all open documents there. */
  async #checkDocument(uri: string, all: boolean): Promise<void> {
    const open = this.#open.get(uri);
    if (!open) return;
    const { folder, path, text } = open;
    if (!folder) return this.#publish(uri, open, await findingsOf(path, text.text));
    const versions = new Map([...this.#open].map(([one, { version }]) => [one, version]));
    const publish = async (found: readonly Finding[]): Promise<void> => {
      for (const [one, other] of this.#open) {
        // What changed meanwhile is checked next.
        if (other.folder !== folder || other.version !== versions.get(one)) continue;
        await this.#publish(
          one,
          other,
          found.filter(({ location }) => location.file === other.path),
        );
      }
    };
    // Only at first: later, a part of the findings would make those that are shown disappear for a moment.
    await publish(await folder.findings(open.isKnown ? undefined : publish, all));
    open.isKnown = true;
    if (!folder.isWhole) this.#partial.add(uri);
  }

  /** Shows findings in the editor, and remembers them for questions about them. */
  async #publish(uri: string, open: Open, findings: readonly Finding[]): Promise<void> {
    open.findings = findings;
    const diagnostics = findings.map((finding) => diagnosticOf(finding, open.text));
    await this.#connection.sendDiagnostics({ uri, version: open.version, diagnostics });
    // What was written goes out only when reading the rest of a catalog pauses.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** A file of a catalog, once all that was sent is checked. */
  async #fileAsked(
    uri: string,
  ): Promise<{ readonly folder: CatalogFolder; readonly file: string } | undefined> {
    await this.#running;
    const open = this.#open.get(uri);
    return open?.folder && { folder: open.folder, file: open.path };
  }
}

const CAPABILITIES: InitializeResult = {
  capabilities: {
    textDocumentSync: TextDocumentSyncKind.Incremental,
    hoverProvider: true,
    definitionProvider: true,
    completionProvider: { triggerCharacters: [' '] },
    documentSymbolProvider: true,
    codeActionProvider: { codeActionKinds: ['quickfix'] },
  },
  serverInfo: { name: 'portolan' },
};

const COMPLETION_KINDS = {
  bundle: CompletionItemKind.Reference,
  channel: CompletionItemKind.EnumMember,
  package: CompletionItemKind.Module,
} as const;

const SYMBOL_KINDS = {
  package: SymbolKind.Package,
  channel: SymbolKind.Class,
  entry: SymbolKind.Field,
  bundle: SymbolKind.Object,
} as const;

/** The catalog of a file: the folder that is named after a version of the platform, or the one above the package's. */
function catalogName(path: string): string {
  const names = dirname(path).split(/[\\/]/);
  return names.findLast((name) => splitAtMinor(name) !== undefined) ?? basename(dirname(dirname(path)));
}

/** The names in a folder; none where it cannot be read. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The editor may have a file whose folder is not there yet.
    return [];
  }
}

/** The text of a catalog's file; undefined for another file, for one of more bytes, and where a link leads elsewhere. */
function catalogTextAt(file: string, most: number): string | undefined {
  if (!isSmall(file, most) || fileDefect(file, dirname(file)) !== undefined) return undefined;
  const text = readRegular(file).toString('utf8');
  return isCatalogText(text) ? text : undefined;
}

/** Takes over the text that a file has on the disk now. @returns whether it is another one */
function readAgain({ files }: CatalogFolder, path: string): boolean {
  const known = files.get(path);
  const others = [...files.values()].reduce((sum, one) => (one === known ? sum : sum + one.text.length), 0);
  const isLeftOut = ignoredIn(dirname(path))(path);
  const saved = isLeftOut ? undefined : catalogTextAt(path, MOST_BYTES - others);
  if (saved === known?.text) return false;
  if (saved === undefined) files.delete(path);
  else files.set(path, new SegmentedText(saved));
  return true;
}

/** Most bytes of an `.indexignore`: known ones have a few hundred. */
const MOST_IGNORED = 64 * 1024;

/** Whether the `.indexignore` of a folder leaves out a file of it: then the catalog lacks it. */
function ignoredIn(directory: string): (path: string) => boolean {
  const file = join(directory, IGNORE_FILE);
  if (!isSmall(file, MOST_IGNORED) || fileDefect(file, directory) !== undefined) return () => false;
  const isIgnored = ignoreMatcher([[IGNORE_FILE, readRegular(file).toString('utf8')]]);
  return (path) => isIgnored(basename(path));
}

/** Whether a path leads to a file of at most so many bytes. */
function isSmall(file: string, most: number): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= most;
}

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** A finding as the protocol has it, with a link to the page of its rule. */
function diagnosticOf({ severity, rule, message, hint, location }: Finding, text: SegmentedText): Diagnostic {
  const page = rulePage(rule);
  return {
    range: rangeOf(location, text.line(location.line - 1)),
    severity: SEVERITIES[severity],
    source: 'portolan',
    code: rule,
    ...(page === undefined ? {} : { codeDescription: { href: page } }),
    message: linesText([message, ...(hint === undefined ? [] : [`fix: ${hint}`])]).trimEnd(),
  };
}

/** The rest of the line from a place on, and at least one character, so that editors underline something. */
function rangeOf({ line, column }: Location, text: string): Range {
  const start = { line: line - 1, character: column - 1 };
  return { start, end: { line: line - 1, character: Math.max(column, text.trimEnd().length) } };
}

/** The quick fix of a finding in a range of lines; none if it has no correction. */
function actionFor(
  { uri, open, range }: { readonly uri: string; readonly open: Open; readonly range: Range },
  finding: Finding,
): CodeAction[] {
  const { correction, location } = finding;
  const line = location.line - 1;
  if (!correction || line < range.start.line || line > range.end.line) return [];
  const at = correction.location.line - 1;
  const text = open.text.line(at);
  const newText = correctedLine(text, correction);
  if (newText === undefined) return [];
  const where = { start: { line: at, character: 0 }, end: { line: at, character: text.length } };
  return [
    {
      title: plainText(finding.hint ?? `write ${newText.trim()}`),
      kind: 'quickfix',
      diagnostics: [diagnosticOf(finding, open.text)],
      isPreferred: true,
      edit: { changes: { [uri]: [{ range: where, newText }] } },
    },
  ];
}

/** A place as the protocol has it: it counts from 0, findings count from 1. */
function lspLocation(place: Location): LspLocation {
  const start = { line: place.line - 1, character: place.column - 1 };
  return { uri: pathToFileURL(place.file).href, range: { start, end: start } };
}

/** An item of the outline in the protocol's form. Its range contains those of its children. */
function documentSymbol({ name, detail, kind, place, children }: OutlineItem): DocumentSymbol {
  const start = { line: place.line - 1, character: place.column - 1 };
  const range = { start, end: { line: start.line, character: start.character + name.length } };
  const inside = children.map(documentSymbol);
  const last = inside.reduce((end, one) => (isBefore(end, one.range.end) ? one.range.end : end), range.end);
  const first = inside.reduce(
    (at, one) => (isBefore(one.range.start, at) ? one.range.start : at),
    range.start,
  );
  // Editors refuse an outline with an empty name.
  const shown = plainText(name) === '' ? '(no name)' : plainText(name);
  return {
    name: shown,
    detail: plainText(detail),
    kind: SYMBOL_KINDS[kind],
    range: { start: first, end: last },
    selectionRange: range,
    children: inside,
  };
}

/** Whether a place comes before another one, which may be in the same line: a catalog in JSON may be one line. */
function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

/** Markdown that shows a text as it is: a name in a catalog may have Markdown's characters. */
function plainMarkdown(text: string): string {
  return plainLines(text).replaceAll(/[<[\]`|\\]/g, '\\$&');
}
