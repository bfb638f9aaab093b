import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runInspection } from '../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { compare, type Recorded } from '../../conformance/bundle.ts';
import { READING_ROWS } from '../../conformance/bundle-readings.ts';
import { ROWS } from '../../conformance/bundle-texts.ts';
import { bundleFiles } from '../../fakes/bundle-fixture.ts';
import { runs } from '../../fakes/runs.ts';
import { type Files, MUTATION_KINDS, mutantOf } from '../../fuzz/bundle-mutants.ts';

const SAMPLE: Files = new Map([...bundleFiles(new Map())].map(([path, text]) => [path, Buffer.from(text)]));

/**
 * Mutants of the sample bundle, and what operator-framework/api v0.45.0, operator-registry v1.73.0 and
 * operator-sdk's `bundle validate` said of them. A file that is null is missing.
 */
interface RecordedMutant {
  readonly name: string;
  readonly files: Readonly<Record<string, string | null>>;
  readonly said: Recorded;
}

const RECORDED: readonly RecordedMutant[] = JSON.parse(
  readFileSync('test/catalog/bundle/fixtures/mutants.json', 'utf8'),
);
const gzipLength = (bytes: Uint8Array): number => gzipSync(bytes).length;

test('each row that excuses a finding is on the page of differences', () => {
  const page = readFileSync('docs/bundle-differences.md', 'utf8');
  const rows = [...Object.values(ROWS), ...READING_ROWS];
  expect(rows.filter((row) => !page.includes(`| ${row} |`))).toEqual([]);
});

test('a seed makes the same mutant every time; every kind is made', () => {
  const made = Array.from({ length: 600 }, (_, seed) => mutantOf(SAMPLE, seed));
  expect(new Set(made.flatMap((mutant) => mutant?.kind ?? []))).toEqual(new Set(MUTATION_KINDS));
  expect(mutantOf(SAMPLE, 7)).toEqual(made[7]);
});

test('every mutant is checked to the end, whatever is wrong with it', async () => {
  for (let seed = 0; seed < runs(300).numRuns; seed++) {
    const mutant = mutantOf(SAMPLE, seed);
    if (!mutant) continue;
    const bundle = await inspectedBundle(sourceOf(Object.fromEntries(mutant.files)), { gzipLength });
    expect(() => runInspection(bundle, RULES), mutant.name).not.toThrow();
  }
});

test.each(RECORDED.map((one) => [one.name, one] as const))('%s', async (name, { files, said }) => {
  const all = new Map<string, Uint8Array>(SAMPLE);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) all.delete(path);
    else all.set(path, Buffer.from(text));
  }
  const result = await compare(name, said, Object.fromEntries(all), { gzipLength });
  expect(result).not.toMatchObject({ outcome: 'differ' });
});
