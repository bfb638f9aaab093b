import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cases } from '../../conformance/bundle.ts';
import { folder } from '../../fakes/folder.ts';

/** Recorded answers of tools that found nothing. */
const SILENT = JSON.stringify({ load: { error: null } });

test('a recorded case that cannot be compared differs, and the others are compared', async () => {
  const golden = folder();
  const write = (name: string, files: Readonly<Record<string, string>>): void => {
    mkdirSync(join(golden, 'bundle', name), { recursive: true });
    cpSync('test/catalogs/bundle', join(golden, 'bundle', name, 'input'), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(golden, 'bundle', name, file), text);
  };
  write('a-no-answers', {});
  write('b-not-json', { 'expect.json': '{' });
  write('c-no-dockerfile', { 'expect.json': SILENT, 'options.json': '{"index-path": "none.Dockerfile"}' });
  write('d-sound', { 'expect.json': SILENT });
  const outcomes: string[] = [];
  for await (const { name, outcome, detail = '' } of cases(golden))
    outcomes.push(`${name} ${outcome} ${/^cannot be compared/.exec(detail) ?? ''}`.trim());
  expect(outcomes).toEqual([
    'a-no-answers differ cannot be compared',
    'b-not-json differ cannot be compared',
    'c-no-dockerfile agree',
    'd-sound agree',
  ]);
});
