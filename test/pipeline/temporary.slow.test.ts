/** What the program keeps in the temporary directory is gone when it ends, however it ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtFile } from '../fakes/built.ts';

/** Makes two folders, says so and ends in a way. */
function program(end: string): string {
  return `
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from './pipeline/write.ts';
for (const name of ['a', 'b']) writeFileSync(temporaryFolder(name) + '/file', 'text');
process.stdout.write('ready', () => { ${end} });`;
}

const WAITS = 'setInterval(() => undefined, 1000);';
const HANGS = 'for (;;);';

test.each([
  ['ends', '', undefined],
  ['fails', 'process.exit(2);', undefined],
  ['throws', 'throw new Error("as expected");', undefined],
  ['aborts', 'process.abort();', undefined],
  ['waits and gets SIGTERM', WAITS, 'SIGTERM'],
  ['waits and gets SIGINT', WAITS, 'SIGINT'],
  ['hangs and gets SIGTERM', HANGS, 'SIGTERM'],
  ['hangs and gets SIGKILL', HANGS, 'SIGKILL'],
] as const)('112: folders are removed with a process that %s', async (_, end, signal) => {
  const home = mkdtempSync(join(tmpdir(), 'temporary-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const child = spawn(process.execPath, [builtFile(program(end))], {
    env: { ...process.env, TMPDIR: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  if (signal) {
    expect(readdirSync(home)).toHaveLength(1);
    child.kill(signal);
  }
  await once(child, 'close');
  await expect.poll(() => readdirSync(home), { timeout: 10_000 }).toEqual([]);
});

test('112: no other module makes folders in the temporary directory', () => {
  const sources = ['pipeline', 'functions'].flatMap((layer) =>
    readdirSync(layer, { recursive: true, encoding: 'utf8' }).map((path) => join(layer, path)),
  );
  const made = sources.filter(
    (path) => path.endsWith('.ts') && /mkdtemp\w*\(\s*join\(\s*tmpdir\(\)/.test(readFileSync(path, 'utf8')),
  );
  expect(made).toEqual(['pipeline/write.ts']);
});
