/** The documentation's examples, run as they are typed in the repository that `npm run demo` makes, and the demo itself. */
import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../fakes/program.ts';

/** Lines of a document's shell blocks that call the program; `# 1` behind one is its exit code, 0 without. */
function examples(document: string): [line: string, exit: number][] {
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  const lines = blocks
    .flatMap(([, text = '']) => text.split('\n'))
    .filter((line) => line.startsWith('portolan '));
  return lines.map((line) => [line.replace(/ *#.*/, ''), Number(/# ([0-2])\b/.exec(line)?.[1] ?? 0)]);
}

/** Runs a line of a page as somebody types it who has followed docs/install.md. */
function typed(line: string): SpawnSyncReturns<string> {
  const env = { ...process.env, PATH: `${home}${delimiter}${process.env['PATH']}` };
  return spawnSync('bash', ['-c', line], { encoding: 'utf8', env });
}

/** A command of a session, the lines that it prints, and its exit code. */
interface Typed {
  readonly command: string;
  readonly lines: readonly string[];
  readonly exit: number;
}

/**
 * What a document's console blocks type into one shell. A line `…` is any others, `…` at an end the rest of it;
 * `(exit code 1)` comes last.
 */
function session(document: string): Typed[] {
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```console\n([\s\S]*?)^```$/gm)];
  return blocks
    .flatMap(([, text = '']) => text.split(/^\$ /m).slice(1))
    .map((text) => {
      const [command = '', ...printed] = text.trimEnd().split('\n');
      const exit = Number(/^\(exit code ([12])\)$/.exec(printed.at(-1) ?? '')?.[1] ?? 0);
      return { command, lines: exit === 0 ? printed : printed.slice(0, -1), exit };
    });
}

/** What commands print in one shell, and their exit codes. */
function ranIn(commands: readonly string[]): [printed: string, exit: number][] {
  const mark = '== end of a command';
  const script = commands.map((command) => `{ ${command}\n} 2>&1; echo "${mark} $?"`).join('\n');
  const { stdout } = typed(script);
  return [...stdout.matchAll(new RegExp(`([\\s\\S]*?)${mark} (\\d+)\\n`, 'g'))].map(
    ([, printed = '', exit]) => [printed, Number(exit)],
  );
}

/** The first line that is not among those printed, in their order; undefined where all are. */
function missingFrom(printed: string, lines: readonly string[]): string | undefined {
  const rest = printed.split('\n');
  return lines
    .filter((line) => line !== '…')
    .find((line) => {
      const fits = (other: string): boolean =>
        line.endsWith('…') ? other.startsWith(line.slice(0, -1)) : other === line;
      const at = rest.findIndex(fits);
      rest.splice(0, at + 1);
      return at === -1;
    });
}

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs').map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

const COREUTILS = [
  'sh',
  'env',
  'ls',
  'cat',
  'cp',
  'mv',
  'rm',
  'mkdir',
  'dirname',
  'basename',
  'uname',
  'sed',
];

/** Fills a directory with these programs alone. */
function pathOf(at: string, programs: readonly string[]): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const program of programs) {
    const found = folders.map((directory) => join(directory, program)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(at, program));
  }
  symlinkSync(process.execPath, join(at, 'node'));
  return at;
}

const home = mkdtempSync(join(tmpdir(), 'portolan-newcomer-'));
let demo: SpawnSyncReturns<string>;
beforeAll(() => {
  // What a newcomer's machine has, and nothing else.
  const PATH = pathOf(home, ['npm', 'git', ...COREUTILS]);
  demo = spawnSync('npm', ['run', '--silent', 'demo'], { encoding: 'utf8', env: { PATH, HOME: home } });
  buildProgram();
  // What `npm link` does.
  symlinkSync(resolve('dist/portolan.mjs'), join(home, 'portolan'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('npm run demo: three pull requests, a merge published twice, and where to look', () => {
  const { status, stdout, stderr } = demo;
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toContain('PASS: allowed, and all checks passed');
  expect(stdout).toContain('NOT YET: needs approval from @fred');
  expect(stdout).toContain('FAIL: lighthouse-operator: 2.0.0 loses its upgrade path (OLM v0)');
  expect(stdout).toContain('graph/strands-installed-v0');
  const digests = [...stdout.matchAll(/digest +(sha256:[0-9a-f]{64})/g)].map(([, digest]) => digest);
  expect(digests).toHaveLength(2);
  expect(digests[0]).toBe(digests[1]);
  expect(stdout).toContain('uploaded 0 bytes');
  for (const [, path = ''] of stdout.matchAll(/^ {2}(\.demo\/\S+)/gm))
    expect(existsSync(path), path).toBe(true);
  // What the demo leaves behind is its own business, and none of the repository's.
  expect(execFileSync('git', ['status', '--porcelain', '--', '.demo'], { encoding: 'utf8' })).toBe('');
});

describe.each(
  DOCUMENTS.map((name) => [name, examples(name)] as const).filter(([, lines]) => lines.length > 0),
)('%s', (_, lines) => {
  test.each(lines)('%s', (line, exit) => {
    const { status, stdout, stderr } = typed(line);
    expect(status, stdout + stderr).toBe(exit);
    // Like opm, it prints nothing for a valid catalog.
    if (/ opm validate /.test(line)) expect(stdout).toBe('');
    else expect(stdout + stderr).not.toBe('');
  });
});

test.each(DOCUMENTS.filter((name) => session(name).length > 0))(
  'the sessions of %s print what it shows',
  (name) => {
    const commands = session(name);
    const ran = ranIn(commands.map(({ command }) => command));
    expect(ran).toHaveLength(commands.length);
    for (const [i, { command, lines, exit }] of commands.entries()) {
      const [printed = '', code] = ran[i] ?? [];
      expect(code, `${command}\n${printed}`).toBe(exit);
      expect(missingFrom(printed, lines), `${command}\n${printed}`).toBeUndefined();
    }
  },
);

test('links between documents lead somewhere', () => {
  const broken: string[] = [];
  for (const name of DOCUMENTS) {
    for (const [, target = ''] of readFileSync(name, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = ''] = target.split('#');
      if (/^[a-z]+:/.test(target) || path === '') continue;
      if (!existsSync(join(dirname(name), path))) broken.push(`${name}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});
