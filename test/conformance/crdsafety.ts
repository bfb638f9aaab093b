// Upgrades of custom resource definitions: verdicts of the current and of the older checks, and what they say.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValue, readManifestFile } from '../../catalog/bundle/manifest.ts';
import { type Crd, readCrd } from '../../catalog/crd/crd.ts';
import { type LegacyRelease, legacyChanges } from '../../catalog/crd/legacy.ts';
import {
  OLM_OPTIONS,
  type SafetyOptions,
  type UnsafeChange,
  unsafeChanges,
} from '../../catalog/crd/safety.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { isolated } from './isolated.ts';
import type { CaseResult } from './main.ts';

/** What crdify asks for by itself. */
const STRICT_OPTIONS: SafetyOptions = {
  enumMayGrow: false,
  descriptionMayChange: false,
  webhookMayConvert: false,
};

export async function* cases(golden: string, fallback: string): AsyncIterable<CaseResult> {
  const root = join(golden, 'crdsafety');
  const decidedIn = [root, join(fallback, 'crdsafety')].find((folder) =>
    existsSync(join(folder, 'DECIDED.json')),
  );
  const decided = decidedIn ? JSON.parse(readFileSync(join(decidedIn, 'DECIDED.json'), 'utf8')) : {};
  const entries = readdirSync(root, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    yield await isolated(name, () => comparePair(name, join(root, name), decided[name]));
  }
  const edges = join(
    [golden, fallback].find((folder) => existsSync(join(folder, 'graph/_crd'))) ?? '',
    'graph/_crd',
  );
  for (const name of existsSync(edges) ? readdirSync(edges).sort() : []) {
    yield await isolated(`_crd/${name}`, () => compareEdge(`_crd/${name}`, join(edges, name)));
  }
}

export interface Recorded {
  readonly olmv1: Verdict & { readonly errors?: readonly string[] };
  readonly crdifyDefault?: { readonly failures?: boolean; readonly panic?: string };
  readonly 'v1.3': LegacyVerdict;
  readonly 'v0.17-kapp': LegacyVerdict;
}

interface Verdict {
  readonly safe?: boolean;
  readonly panic?: string;
}

interface LegacyVerdict extends Verdict {
  readonly groups?: readonly { readonly validator: string; readonly errors: readonly string[] }[];
}

function definitionIn(path: string): Crd | undefined {
  return readCrd(firstValue(readManifestFile(path, readFileSync(path)))?.value);
}

async function comparePair(
  name: string,
  root: string,
  decided: { safe: boolean } | undefined,
): Promise<CaseResult> {
  const recorded: Recorded = JSON.parse(readFileSync(join(root, 'expect.json'), 'utf8'));
  const before = definitionIn(join(root, 'old.yaml'));
  const after = definitionIn(join(root, 'new.yaml'));
  if (!before || !after) return { name, outcome: 'differ', detail: 'not read' };
  const result = compareDefinitions(name, recorded, { before, after, decided });
  if (result.outcome !== 'differ') return result;
  const row = chosenRow(recorded, before, after, (as) =>
    compareDefinitions(name, recorded, { before: as, after, decided }),
  );
  return row === undefined ? result : { name, outcome: 'chosen', detail: row };
}

/** The row of docs/bundle-differences.md that says why ours differs. */
function chosenRow(
  recorded: Recorded,
  before: Crd,
  after: Crd,
  compareAs: (before: Crd) => CaseResult,
): string | undefined {
  if (!before.hasStatus && compareAs({ ...before, storedVersions: [] }).outcome === 'agree') {
    return 'storage-version';
  }
  if (recorded.olmv1.errors?.some((line) => / oneOf: .*0x(?:PTR|[0-9a-f]{8})/s.test(line)))
    return 'oneof-addresses';
  return [before, after].some(hasDottedNames) ? 'dotted-names' : undefined;
}

/** Whether a property's name can be taken for another place: it has a dot, or is that of the items. */
function hasDottedNames({ versions }: Crd): boolean {
  const walk = (value: unknown): boolean =>
    isObject(value) &&
    (Object.keys(isObject(value['properties']) ? value['properties'] : {}).some(
      (key) => key.includes('.') || key === 'items',
    ) ||
      Object.values(value).some((each) => (Array.isArray(each) ? each.some(walk) : walk(each))));
  return versions.some(({ schema }) => walk(schema));
}

interface Definitions {
  readonly before: Crd;
  readonly after: Crd;
  readonly decided?: { safe: boolean } | undefined;
}

/** What ours say of two definitions beside what the real checks said. */
export function compareDefinitions(
  name: string,
  recorded: Recorded,
  { before, after, decided }: Definitions,
): CaseResult {
  const changes = unsafeChanges(before, after, OLM_OPTIONS);
  const safe = decided?.safe ?? recorded.olmv1.safe;
  const strict = recorded.crdifyDefault?.failures;
  const isStrict = unsafeChanges(before, after, STRICT_OPTIONS).length > 0;
  const differing = [
    (changes.length === 0) === safe ? [] : [`verdict: ${changes.map(({ text }) => text).join('; ')}`],
    strict === undefined || decided || strict === isStrict ? [] : ['strict verdict'],
    decided ? [] : textsDiffer(recorded.olmv1.errors ?? [], changes),
    legacyDiffers(recorded['v1.3'], before, after, 'v1.3'),
    legacyDiffers(recorded['v0.17-kapp'], before, after, 'v0.17'),
  ].flat();
  return differing.length === 0
    ? { name, outcome: 'agree' }
    : { name, outcome: 'differ', detail: differing.join('; ') };
}

/** Only the first words count where Go prints its own structs. */
const STRUCTS = /^(.*(?:unhandled: unhandled changes found|oneOf: [^[]*)).*$/;

function textsDiffer(recorded: readonly string[], changes: readonly UnsafeChange[]): string[] {
  const shown = (text: string): string => unordered(text.replace(STRUCTS, '$1'));
  const ours = changes.map(({ text }) => shown(text)).sort();
  const theirs = recorded.map(shown).sort();
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return [];
  const added = ours.filter((text) => !theirs.includes(text));
  const lost = theirs.filter((text) => !ours.includes(text));
  return [`texts: +${added.join(' | ')} -${lost.join(' | ')}`];
}

function legacyDiffers(recorded: LegacyVerdict, before: Crd, after: Crd, release: LegacyRelease): string[] {
  // Where the old checks panic, ours answer.
  if (recorded.panic !== undefined) return [];
  const found = legacyChanges(before, after, release);
  if ((found.length === 0) !== recorded.safe) {
    return [`${release} verdict: ${found.map(({ message }) => message).join('; ')}`];
  }
  const ours = found.map(({ validator, message }) => `${validator}: ${message}`).sort();
  const theirs = (recorded.groups ?? [])
    .flatMap(({ validator, errors }) => errors.map((error) => `${validator}: ${error}`))
    .sort();
  const lost = theirs.filter((text) => !ours.map(unordered).includes(unordered(text)));
  return lost.length === 0 ? [] : [`${release}: -${lost.join(' | ')} +${ours.join(' | ')}`];
}

/** Lists are printed in no order. */
function unordered(text: string): string {
  return text.replaceAll(/\[([^\][]*)\]/g, (_, list: string) => `[${list.split(' ').sort().join(' ')}]`);
}

async function compareEdge(name: string, root: string): Promise<CaseResult> {
  const { error }: { error?: string | null } = JSON.parse(readFileSync(join(root, 'expect.json'), 'utf8'));
  const [from, to] = ['from', 'to'].map((side) => definitionsIn(join(root, 'input', side)));
  const lines: UnsafeChange[] = [];
  for (const after of to ?? []) {
    const before = from?.find((definition) => definition.name === after.name);
    if (before) lines.push(...unsafeChanges(before, after));
  }
  const recorded = (error ?? '')
    .split('\n')
    .map((line) => line.replace(/^validating upgrade for CRD "[^"]*": /, ''))
    .filter((line) => line !== '');
  const differing = [
    (lines.length === 0) === (recorded.length === 0) ? [] : ['verdict'],
    textsDiffer(recorded, lines),
  ].flat();
  return differing.length === 0
    ? { name, outcome: 'agree' }
    : { name, outcome: 'differ', detail: differing.join('; ').slice(0, 600) };
}

function definitionsIn(folder: string): Crd[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file) => definitionIn(join(folder, file)) ?? []);
}
