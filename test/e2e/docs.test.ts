/** The documentation's examples, run as they are typed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../fakes/program.ts';

/** Lines of a document's shell blocks that call the program; `# 1` behind one is its exit code, 0 without. */
function examples(document: string): [line: string, exit: number][] {
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  const lines = blocks
    .flatMap(([, text = '']) => text.split('\n'))
    .filter((line) => line.startsWith('npx portolan'));
  return lines.map((line) => [line.replace(/ *#.*/, ''), Number(/# ([0-2])\b/.exec(line)?.[1] ?? 0)]);
}

/** A document's sessions: a command, and lines that it prints. A line `…` is any others, `…` at an end the rest of it. */
function sessions(document: string): [command: string, lines: string[]][] {
  const blocks = [
    ...readFileSync(document, 'utf8').matchAll(/^```console\n\$ (npx portolan .*)\n([\s\S]*?)^```$/gm),
  ];
  return blocks.map(([, command = '', text = '']) => [command, text.trimEnd().split('\n')]);
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

beforeAll(() => {
  execFileSync(process.execPath, ['scripts/demo.mjs'], { stdio: 'ignore' });
  buildProgram();
});

describe.each(
  DOCUMENTS.map((name) => [name, examples(name)] as const).filter(([, lines]) => lines.length > 0),
)('%s', (_, lines) => {
  test.each(lines)('%s', (line, exit) => {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(exit);
    expect(stdout + stderr).not.toBe('');
  });
});

describe.each(DOCUMENTS.filter((name) => sessions(name).length > 0))('%s prints', (name) => {
  test.each(sessions(name))('%s', (command, lines) => {
    const { stdout } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    expect(missingFrom(stdout, lines), stdout).toBeUndefined();
  });
});

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
