/** Catalogs that are meant to bring the reader down: a finding or one clear error, in time, never a crash. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { checkCatalog } from '../../catalog/rules/check-catalog.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { directorySource } from '../../pipeline/directory.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { folder } from '../fakes/folder.ts';
import { buildProgram } from '../fakes/program.ts';

beforeAll(buildProgram);

const MINUTE = 60_000;

function validate(root: string): { exit: number | null; out: string; err: string } {
  const words = [resolve('dist/portolan.mjs'), 'validate', root];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: MINUTE,
    maxBuffer: 1 << 28,
  });
  return { exit: status, out: stdout, err: stderr };
}

function catalogOf(content: string | Uint8Array): string {
  const root = folder();
  writeFileSync(join(root, 'catalog.yaml'), content);
  return root;
}

/** No stack, no memory dump, nothing that only the machine understands. */
function expectCalm({ err }: { err: string }): void {
  expect(err).not.toMatch(/^\s+at |FATAL ERROR|RangeError|heap/m);
}

const DEEP = 100_000;
const laughs = ['a: &a [x, x, x, x, x, x, x, x, x]'];
for (const [i, name] of [...'bcdefghijk'].entries()) {
  const before = 'abcdefghijk'.charAt(i);
  laughs.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`);
}

test.each([
  ['a scalar of 200 MB', 'schema: x\nname: '],
  ['a quoted scalar of 200 MB', 'schema: x\nname: "'],
  ['a JSON string of 200 MB', '{"schema": "'],
])('%s', (_, begin) => {
  const ended = validate(catalogOf(Buffer.concat([Buffer.from(begin), Buffer.alloc(200e6, 'a')])));
  expect(ended.exit).toBe(1);
  expectCalm(ended);
});

test.each([
  ['lists within lists', `schema: x\na: ${'['.repeat(DEEP)}${']'.repeat(DEEP)}\n`],
  ['lists that never end', `schema: x\na: ${'['.repeat(DEEP)}`],
  ['mappings within mappings', `schema: x\na: ${'{a: '.repeat(DEEP)}1${'}'.repeat(DEEP)}\n`],
  ['lists in blocks', `schema: x\na:\n${'- '.repeat(DEEP)}1\n`],
  ['keys of keys', `${'? '.repeat(DEEP)}1\n`],
  ['JSON arrays', `{"schema": "x", "a": ${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`],
  ['JSON objects', `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`],
])('%s, 100,000 deep', (_, content) => {
  const ended = validate(catalogOf(content));
  expect(ended.exit).toBe(1);
  expect(ended.out).toMatch(/^catalog\.yaml:\d+:\d+: error: /);
  expectCalm(ended);
});

test('aliases of aliases that would be a billion', () => {
  const ended = validate(catalogOf(`schema: x\n${laughs.join('\n')}\n`));
  expect(ended.exit).toBe(1);
  expect(ended.out).toContain('excessive aliasing');
  expectCalm(ended);
});

test('bytes that are not UTF-8', () => {
  const ended = validate(catalogOf(Uint8Array.from([...Buffer.from('schema: x\nname: '), 0xff, 0xfe, 0x0a])));
  expect(ended.exit).toBe(1);
  expect(ended.out).toMatch(/^catalog\.yaml:2:7: error: the file is not UTF-8/);
});

test('a directory that leads into itself', () => {
  const root = catalogOf('schema: x\n');
  symlinkSync('..', join(root, 'loop'));
  symlinkSync('self', join(root, 'self'));
  const ended = validate(root);
  expect(ended.exit).toBe(1);
  expect(ended.out).toContain('loop: error: a link to a directory');
  expectCalm(ended);
});

test('a pipe, which nobody writes into', () => {
  const root = catalogOf('schema: x\n');
  execFileSync('mkfifo', [join(root, 'pipe')]);
  const ended = validate(root);
  expect(ended.exit).toBe(1);
  expect(ended.out).toContain('pipe: error: neither a file nor a directory');
});

test('a file that vanishes between the listing and the reading', async () => {
  const root = catalogOf('schema: x\n');
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'a/b.yaml'), 'schema: y\n');
  const source = directorySource(root);
  const files = await source.files();
  rmSync(join(root, 'a'), { recursive: true });
  const judged = checkCatalog({ files: () => Promise.resolve(files) }, RULES);
  await expect(judged).rejects.toThrow(PipelineError);
  await expect(judged).rejects.toMatchObject({ code: 'not-found' });
});
