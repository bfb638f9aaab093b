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

const DOCUMENTS = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

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
