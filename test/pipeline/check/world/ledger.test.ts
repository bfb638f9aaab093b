import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendLedger, readLedger } from '../../../../pipeline/check/world/ledger.ts';
import { catalogFrom } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const about = { path: 'l', name: 'v4.20' };
const stable = (version: string) => ({
  p: { versions: [version], channels: { stable: [{ name: `p.v${version}` }] } },
});

test('keeps what is gone with its last day, and moves the day of what is there', async () => {
  const one = appendLedger('', {
    ...about,
    catalog: await catalogFrom(stable('1.0.0')),
    today: '2026-01-01',
  });
  const two = appendLedger(one, {
    ...about,
    catalog: await catalogFrom(stable('1.1.0')),
    today: '2026-02-01',
  });
  expect(two).toBe(
    [
      '{"catalog":"v4.20","package":"p","channel":"stable","bundle":"p.v1.0.0","version":"1.0.0","last":"2026-01-01"}',
      '{"catalog":"v4.20","package":"p","channel":"stable","bundle":"p.v1.1.0","version":"1.1.0","last":"2026-02-01"}',
      '',
    ].join('\n'),
  );
  const again = { ...about, catalog: await catalogFrom(stable('1.1.0')), today: '2026-02-01' };
  expect(appendLedger(two, again)).toBe(two);
  expect(
    readLedger(two, 'l')
      .get('v4.20')
      ?.get('p')
      ?.map(({ name }) => name),
  ).toEqual(['p.v1.0.0', 'p.v1.1.0']);
});

test('portolan ledger writes it', async () => {
  const directory = folder();
  const sample = join(process.cwd(), 'test/catalogs/sample/catalogs/v4.20');
  expect(await runCommand(['ledger', 'published.jsonl', sample], { directory })).toMatchObject({ exit: 0 });
  const text = readFileSync(join(directory, 'published.jsonl'), 'utf8');
  expect(text.split('\n')[0]).toMatch(/^\{"catalog":"v4.20","package":"ferry-operator","channel":"stable-1"/);
  writeFileSync(join(directory, 'broken.jsonl'), 'x\n');
  const broken = await runCommand(['ledger', 'broken.jsonl', sample], { directory });
  expect(broken).toMatchObject({ exit: 2 });
  expect(broken.err).toContain('broken.jsonl:1 is not a valid ledger line');
});
