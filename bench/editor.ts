/**
 * A session of an editor with the language server, through the protocol: what it asked, what came back, and how long it took.
 *
 *     npm run build && node scripts/run.mjs bench/editor.ts CATALOG.yaml [--mb 20] [--record FILE]
 *
 * --mb makes the catalog at least so large: with its packages again, under other names. --record writes all messages.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Location,
} from 'vscode-languageserver';
import { startEditor } from '../test/fakes/editor.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mb: { type: 'string', default: '0' }, record: { type: 'string' } },
});
const text = large(readFileSync(positionals[0] ?? '', 'utf8'), Number(values.mb) * 1e6);
const lines = text.split('\n');
const folder = join(mkdtempSync(join(tmpdir(), 'portolan-editor-')), 'v4.20/catalog');
mkdirSync(folder, { recursive: true });
const path = join(folder, 'catalog.yaml');
writeFileSync(path, text);

console.log(
  `${(text.length / 1e6).toFixed(1)} MB, ${lines.length} lines, Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(0)}\n`,
);
console.log('| step | answer | ms | ms of CPU |\n|---|---|---|---|');

let [began, spent] = [performance.now(), 0];
const editor = await startEditor([process.execPath, resolve('dist/portolan.mjs'), 'lsp', '--stdio']);
row('start', 'initialized');

began = performance.now();
const opened = await editor.open(path, text);
const first = editor.published.find(({ diagnostics }) => diagnostics.length > 0) ?? editor.published[0];
console.log(
  `| open: first findings | ${first?.diagnostics.length} findings | ${((first?.at ?? began) - began).toFixed(0)} | |`,
);
row('open: all findings', `${opened.length} findings`);

// The last edge to an entry of its channel; below, where a bundle names its package again.
const at = lines.findLastIndex((one, i) => {
  const [, replaced] = /^ *replaces: (\S+)$/.exec(one) ?? [];
  const channel = () => lines.slice(lines.lastIndexOf('---', i) + 1, lines.indexOf('---', i));
  return replaced !== undefined && channel().some((other) => other.trim() === `- name: ${replaced}`);
});
const edge = lines[at] ?? '';
const position = { line: at, character: edge.length };

for (const letter of 'typed')
  await step(`type "${letter}"`, async () => {
    const end = edge.length + 'typed'.indexOf(letter);
    const found = await editor.edit(path, { from: [at, end], to: [at, end], text: letter });
    return !isSame(found, opened) && `${found.length} findings`;
  });
await step('delete the word', async () => {
  const found = await editor.edit(path, { from: [at, edge.length], to: [at, edge.length + 5], text: '' });
  return `${found.length} findings`;
});
await step('nothing for half a second', restored);
await step('hover', async () => {
  const hover = await editor.request<Hover | null>('textDocument/hover', path, { position });
  const contents = hover?.contents as { readonly value: string } | undefined;
  return contents && String(contents.value).split('\n\n')[1]?.replaceAll('|', '\\|');
});
await step('definition', async () => {
  const found = await editor.request<Location | null>('textDocument/definition', path, { position });
  return found && `line ${found.range.start.line + 1}: ${lines[found.range.start.line]?.trim()}`;
});
await step('completion', async () => {
  const found = await editor.request<CompletionItem[]>('textDocument/completion', path, { position });
  return found.length > 0 && `${found.length} names`;
});
await step('outline', async () => {
  const found = await editor.request<DocumentSymbol[]>('textDocument/documentSymbol', path);
  return found.length > 0 && `${found.length} packages, ${countOf(found)} items`;
});

const chosen = lines.findIndex(
  (one, i) => /^ +packageName: \S/.test(one) && /type: olm\.package$/.test(lines[i - 2] ?? ''),
);
const line = lines[chosen] ?? '';
const whole = { start: { line: chosen, character: 0 }, end: { line: chosen, character: line.length } };
await step('type a wrong package', async () => {
  const edit = { from: [chosen, line.length], to: [chosen, line.length], text: 'x' } as const;
  const found = await editor.edit(path, edit);
  const wrong = found.find(({ range }) => range.start.line === chosen);
  return wrong && String(wrong.message).split('\n')[0];
});
let fix: CodeAction | undefined;
await step('code action', async () => {
  const context = { diagnostics: [] };
  [fix] = await editor.request<CodeAction[]>('textDocument/codeAction', path, { range: whole, context });
  return fix?.title;
});
await step('apply it', async () => {
  const [change] = Object.values(fix?.edit?.changes ?? {})[0] ?? [];
  const end = line.length + 1;
  const edit = { from: [chosen, 0], to: [chosen, end], text: change?.newText ?? '' } as const;
  const found = await editor.edit(path, edit);
  return change?.newText === line && `${found.length} findings`;
});
await step('nothing for half a second', restored);
await step('save, and hover again', async () => {
  const textDocument = { uri: pathToFileURL(path).href };
  await editor.connection.sendNotification('textDocument/didSave', { textDocument });
  const hover = await editor.request<Hover | null>('textDocument/hover', path, { position });
  return hover && 'answered';
});
console.log(`\nMost memory of the server: ${editor.memory().toFixed(0)} MB`);
if (values.record) writeFileSync(values.record, `${JSON.stringify(editor.messages, null, 1)}\n`);
process.exitCode = (await editor.close()) ?? 1;

/** Settles once the findings are those of the beginning again: in packages that nobody edited, only after a pause. */
async function restored(): Promise<string | false> {
  for (let i = 0; i < 1000; i++) {
    const last = editor.published.at(-1)?.diagnostics ?? [];
    if (isSame(last, opened)) return `${last.length} findings, those of the beginning`;
    await setTimeout(20);
  }
  return false;
}

/** One line of the table. @throws Error when the answer is not the one that a session needs to go on */
async function step(name: string, act: () => Promise<string | false | null | undefined>): Promise<void> {
  [began, spent] = [performance.now(), editor.spent()];
  const answer = await act();
  if (!answer) throw new Error(`${name}: not the answer that was expected`);
  row(name, answer);
}

/** Prints what a step answered, with its time and CPU; the next step begins. */
function row(name: string, answer: string): void {
  const [now, cpu] = [performance.now(), editor.spent()];
  console.log(`| ${name} | ${answer} | ${(now - began).toFixed(0)} | ${cpu - spent} |`);
  [began, spent] = [now, cpu];
}

/** Whether findings are the same, in whatever order. */
function isSame(some: readonly Diagnostic[], others: readonly Diagnostic[]): boolean {
  const [a, b] = [some, others].map((found) => found.map((one) => JSON.stringify(one)).sort());
  return isDeepStrictEqual(a, b);
}

/** The items of an outline, with those within them. */
function countOf(items: readonly DocumentSymbol[]): number {
  return items.reduce((count, { children }) => count + 1 + countOf(children ?? []), 0);
}

/** The packages of a catalog, and again under other names until it is large enough. */
function large(catalog: string, bytes: number): string {
  const parts = [catalog.endsWith('\n') ? catalog : `${catalog}\n`];
  const packages = [...catalog.matchAll(/^schema: olm\.package$/gm)].length;
  if (packages === 0) throw new Error('no packages');
  for (let i = 2, length = catalog.length; length < bytes; i++) {
    const part = catalog
      .replaceAll(/^( *package(?:Name)?: .*)$/gm, `$1-${i}`)
      .split(/^---\n/m)
      .map((document) =>
        /^schema: olm\.package$/m.test(document) ? document.replace(/^(name: .*)$/m, `$1-${i}`) : document,
      )
      .join('---\n');
    parts.push(part.startsWith('---') ? part : `---\n${part}`);
    length += part.length;
  }
  return parts.join('');
}
