import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { firstValue, readManifestFile } from '../../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../../catalog/crd/crd.ts';
import { type LegacyRelease, legacyChanges } from '../../../catalog/crd/legacy.ts';
import { unsafeChanges } from '../../../catalog/crd/safety.ts';

/**
 * Pairs of `test/fuzz/crd-pairs.ts`, and the lines of the checks of operator-controller df2c201d, v1.3.0 and v0.17.0.
 * `unhandled` and `oneOf` are cut where Go prints its own structs, and lists are sorted, as some are in random order.
 */
interface Recorded {
  readonly name: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly said: Readonly<Record<'v1' | LegacyRelease, readonly string[]>>;
}

const RECORDED: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('fixtures/pairs.json', import.meta.url), 'utf8'),
);

function crd(value: unknown): Crd {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const read = readCrd(firstValue(readManifestFile('crd.json', bytes))?.value);
  if (!read) throw new Error('not a CRD');
  return read;
}

const STRUCTS = /^(.*(?:unhandled: unhandled changes found|oneOf: [^[]*)).*$/s;

function comparable(lines: readonly string[]): string[] {
  return lines
    .map((line) => line.replace(STRUCTS, '$1'))
    .map((line) =>
      line.replaceAll(/\[([^\][]*)\]/g, (_, list: string) => `[${list.split(' ').sort().join(' ')}]`),
    )
    .sort();
}

test.each(RECORDED.map((each) => [each.name, each] as const))('%s', (_, pair) => {
  const [before, after] = [crd(pair.old), crd(pair.new)];
  const legacy = (release: LegacyRelease): string[] =>
    legacyChanges(before, after, release).map(({ validator, message }) => `${validator}: ${message}`);
  expect(comparable(unsafeChanges(before, after).map(({ text }) => text))).toEqual(pair.said.v1);
  expect(comparable(legacy('v1.3'))).toEqual(pair.said['v1.3']);
  expect(comparable(legacy('v0.17'))).toEqual(pair.said['v0.17']);
});
