// opm's file side: every recorded command line, run by `portolan opm` in a folder of its own.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runOpm } from '../../pipeline/cli/opm/opm.ts';
import type { Registry } from '../../pipeline/ports.ts';
import { sameTrees, verdictMessage } from './error-tree.ts';
import { serveImages } from './fbc-images.ts';
import { capture } from './fbc-terminal.ts';
import type { CaseResult, ConformanceSet } from './main.ts';

type Content = string | { readonly base64: string } | { readonly link: string } | { readonly dir: true };

/** What opm did in one of its runs. */
interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly outFiles?: Readonly<Record<string, string>>;
  readonly errorTreeSorted?: unknown;
}

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, Content>>;
  readonly expect: Answer & {
    readonly cmd: readonly string[];
    readonly cwd?: string;
    readonly stdin?: string;
    readonly variants?: readonly Answer[];
  };
}

export const cases: ConformanceSet['cases'] = async function* (folder, fallback) {
  const all = casesIn(folder);
  // What the index image holds is what one of the cases prints.
  const catalog = [...all, ...casesIn(fallback)].find(({ name }) => name === 'render-catalog-image');
  const bundles = [folder, fallback]
    .map((root) => join(root, 'fbc/_bundles'))
    .find((path) => existsSync(path));
  const { registry, close } = await serveImages(bundles ?? '', catalog?.expect.stdout ?? '');
  try {
    for (const one of all) yield await compared(one, registry);
  } finally {
    await close();
  }
};

function casesIn(folder: string): Case[] {
  const lines = readFileSync(join(folder, 'fbc/cases.jsonl'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

async function compared({ name, files, expect }: Case, registry: Registry): Promise<CaseResult> {
  const work = mkdtempSync(join(tmpdir(), 'fbc-'));
  const places = { $INPUT: join(work, 'input'), $OUT: join(work, 'out'), $WORK: work };
  const real = (text: string): string => placed(text, places);
  try {
    layOut(places.$INPUT, files);
    const directory = expect.cwd === undefined ? work : real(expect.cwd);
    const { terminal, printed } = capture(directory, expect.stdin ?? '');
    const before = new Set(filesBelow(work));
    const code = await runOpm(expect.cmd.slice(1).map(real), { terminal, registry: () => registry });
    const ours: Answer = {
      exitCode: code,
      stdout: recorded(printed(), places),
      outFiles: Object.fromEntries(
        filesBelow(work)
          .filter((path) => !before.has(path))
          .map((path) => [recorded(join(work, path), places), readFileSync(join(work, path), 'utf8')]),
      ),
    };
    return judged(name, ours, [expect, ...(expect.variants ?? [])]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function judged(name: string, ours: Answer, theirs: readonly Answer[]): CaseResult {
  // A panic is no answer: ours fails like anything else that is refused.
  if (theirs.every(({ exitCode }) => exitCode === 2)) {
    return ours.exitCode === 1
      ? { name, outcome: 'chosen', detail: 'opm-panics' }
      : { name, outcome: 'differ', detail: `exit code ${ours.exitCode} where opm panics` };
  }
  const details = theirs.map((answer) => difference(ours, answer));
  if (details.includes(undefined)) return { name, outcome: 'agree' };
  return { name, outcome: 'differ', detail: details[0] ?? '' };
}

function difference(ours: Answer, theirs: Answer): string | undefined {
  if ((ours.exitCode === 0) !== (theirs.exitCode === 0)) {
    return `exit code ${ours.exitCode}, not ${theirs.exitCode}`;
  }
  if (theirs.exitCode !== 0 && theirs.stdout === '') return undefined;
  if (!sameOutput(ours.stdout, theirs))
    return `standard output: ${firstDifference(ours.stdout, theirs.stdout)}`;
  const wanted = theirs.outFiles ?? {};
  const found = ours.outFiles ?? {};
  for (const path of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
    if (wanted[path] === undefined) return `${path} was written`;
    if (found[path] === undefined) return `${path} was not written`;
    if (wanted[path] !== found[path]) return `${path}: ${firstDifference(found[path], wanted[path])}`;
  }
  return undefined;
}

function sameOutput(ours: string, theirs: Answer): boolean {
  if (ours === theirs.stdout) return true;
  if (theirs.errorTreeSorted === undefined) return false;
  const [own, other] = [ours, theirs.stdout].map(verdictMessage);
  return own !== undefined && other !== undefined && sameTrees(own, other);
}

function firstDifference(ours: string, theirs: string): string {
  const ourLines = ours.split('\n');
  const theirLines = theirs.split('\n');
  const at = theirLines.findIndex((line, i) => line !== ourLines[i]);
  const line = at < 0 ? theirLines.length : at;
  return `line ${line + 1}: ${JSON.stringify(ourLines[line])}, not ${JSON.stringify(theirLines[line])}`;
}

function layOut(root: string, files: Case['files']): void {
  mkdirSync(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    if (path.startsWith('.keepdir')) continue;
    mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true });
    if (typeof content === 'string') writeFileSync(full, content);
    else if ('base64' in content) writeFileSync(full, Buffer.from(content.base64, 'base64'));
    else if ('link' in content) symlinkSync(content.link, full);
    else mkdirSync(full, { recursive: true });
  }
}

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function placed(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((done, [name, path]) => done.replaceAll(name, path), text);
}

function recorded(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((done, [name, path]) => done.replaceAll(path, name), text);
}
