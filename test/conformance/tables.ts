/**
 * The tables of the Go libraries: YAML to JSON and JSON to YAML through
 * sigs.k8s.io/yaml, the scalars of a manifest, the order of keys, versions and ranges.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareText } from '../../catalog/go/text.ts';
import { satisfies } from '../../catalog/version/satisfies.ts';
import {
  compareVersions,
  formatVersion,
  parseRange,
  parseVersion,
  VersionError,
} from '../../catalog/version/version.ts';
import { compose } from '../../catalog/yaml/compose.ts';
import { compareKeys, EmitError, emitYaml } from '../../catalog/yaml/emit.ts';
import { readFast } from '../../catalog/yaml/fast.ts';
import { readTree } from '../../catalog/yaml/parser.ts';
import type { Json } from '../../catalog/yaml/scalar.ts';
import { YamlError, type YamlMapping } from '../../catalog/yaml/tree.ts';
import type { CaseResult } from './main.ts';

/** A row says what Go's library made of a text, or how it refused it. */
interface Row {
  readonly yaml?: string;
  readonly json?: string;
  readonly error?: string;
}

interface KeyOrder {
  readonly keys: readonly string[];
  readonly jsonOrder: readonly string[];
  readonly yamlText: string;
}

/** What blang made of versions and ranges. */
interface VersionTable {
  readonly parse: readonly { readonly in: string; readonly string?: string; readonly error?: string }[];
  readonly compare: readonly (readonly [string, string, number])[];
  readonly sampleVersions: readonly string[];
  readonly ranges: readonly {
    readonly range: string;
    readonly satisfiedBy?: readonly string[] | null;
    readonly error?: string;
    /** Read, but Go crashes when it looks for versions in it. */
    readonly panic?: string;
  }[];
}

export async function* cases(folder: string, fallback: string): AsyncGenerator<CaseResult> {
  const table = (name: string): string => {
    const path = join(folder, name);
    return readFileSync(existsSync(path) ? path : join(fallback, name), 'utf8');
  };
  const rows = (name: string): readonly Row[] => {
    const parsed = JSON.parse(table(name)) as readonly Row[] | { readonly cases: readonly Row[] };
    return 'cases' in parsed ? parsed.cases : parsed;
  };
  for (const [i, row] of rows('fbc/_tables/yaml2json.json').entries()) {
    yield result(`yaml2json/${i}`, readDiffers(row.yaml ?? '', row));
  }
  for (const [i, row] of rows('fbc/_tables/json2yaml.json').entries()) {
    yield result(`json2yaml/${i}`, writeDiffers(row));
  }
  // What the rows leave out stood around them when they were recorded.
  for (const [i, row] of rows('yaml-scalars/expect.json').entries()) {
    yield result(`yaml-scalars/${i}`, readDiffers(`apiVersion: v1\nkind: X\n${row.yaml ?? ''}\n`, row));
  }
  yield* keyOrder(JSON.parse(table('fbc/_tables/keyorder.json')) as KeyOrder);
  yield* versions(JSON.parse(table('fbc/_tables/semver.json')) as VersionTable);
  yield { name: 'yaml-real', outcome: 'skipped', detail: 'the files of which it holds digests are not here' };
}

function result(name: string, differs: string | undefined): CaseResult {
  return differs === undefined ? { name, outcome: 'agree' } : { name, outcome: 'differ', detail: differs };
}

/** Both readers must read what Go read; what Go refused must be refused in its words. */
function readDiffers(text: string, row: Row): string | undefined {
  const expected = row.error?.replace(/^error converting YAML to JSON: /, '') ?? canonical(row.json ?? '');
  const fast = readFast(text, 0, text.length, 1);
  const full = answer(text);
  if (full !== expected) return `${JSON.stringify(text)}: expected ${expected}, found ${full}`;
  if (fast && canonical(JSON.stringify(fast.value)) !== expected)
    return `${JSON.stringify(text)}: the fast reader`;
  return undefined;
}

function answer(text: string): string {
  try {
    return canonical(JSON.stringify(compose(readTree(text, { depth: 1000 }).root).value));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return error.original ?? error.message;
  }
}

/** JSON with the keys of every object in one order. */
function canonical(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareText(a, b)))
      : value,
  );
}

function writeDiffers({ json = '', yaml }: Row): string | undefined {
  try {
    const written = emitYaml(JSON.parse(json) as Json);
    return written === yaml
      ? undefined
      : `${json}: expected ${JSON.stringify(yaml)}, found ${JSON.stringify(written)}`;
  } catch (error) {
    if (!(error instanceof EmitError)) throw error;
    return yaml === undefined ? undefined : `${json}: ${error.message}`;
  }
}

/**
 * go-yaml's order is no order among some keys: with digits and letters behind equal
 * zeros a < b < c < a, and Go writes such keys differently from run to run. So what is
 * compared is every pair of neighbours.
 */
function* keyOrder({ keys, jsonOrder, yamlText }: KeyOrder): Generator<CaseResult> {
  const sorted = [...keys].sort(compareText);
  yield result(
    'keyorder/json',
    sorted.join('\n') === jsonOrder.join('\n') ? undefined : 'the order of JSON keys',
  );
  const root = readTree(yamlText, { depth: 2 }).root as YamlMapping;
  const written = root.pairs.map(({ key }) => (key.kind === 'scalar' ? key.text : ''));
  for (const [i, key] of written.entries()) {
    const next = written[i + 1];
    if (next === undefined) continue;
    yield result(
      `keyorder/yaml/${i}`,
      compareKeys(key, next) < 0 ? undefined : `${JSON.stringify(key)} stands before ${JSON.stringify(next)}`,
    );
  }
}

function* versions({ parse, compare, sampleVersions, ranges }: VersionTable): Generator<CaseResult> {
  for (const [i, row] of parse.entries()) {
    const found = orError(() => formatVersion(parseVersion(row.in)));
    yield expected(`semver/parse/${i}`, row.in, row.error ?? row.string, found);
  }
  for (const [i, [a, b, order]] of compare.entries()) {
    const found = compareVersions(parseVersion(a), parseVersion(b));
    yield expected(`semver/compare/${i}`, `${a} and ${b}`, order, found);
  }
  for (const [i, { range, satisfiedBy, error, panic }] of ranges.entries()) {
    const found = orError(() => {
      const read = parseRange(range);
      if (panic !== undefined) return '';
      return sampleVersions.filter((version) => satisfies(parseVersion(version), read)).join(' ');
    });
    yield expected(`semver/range/${i}`, range, error ?? (satisfiedBy ?? []).join(' '), found);
  }
}

function orError(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return error.message;
  }
}

function expected(name: string, input: string, recorded: unknown, found: unknown): CaseResult {
  return result(
    name,
    found === recorded ? undefined : `${JSON.stringify(input)}: expected ${recorded}, found ${found}`,
  );
}
