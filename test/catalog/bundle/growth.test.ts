/** No rule of bundles looks at the members of a list once for each member of it or of another list. */
import { readFileSync } from 'node:fs';
import { dump, load } from 'js-yaml';
import { expect, test } from 'vitest';
import { type Inspected, inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { INSPECTION_RULES } from '../../../catalog/rules/inspection.ts';
import { runInspection } from '../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { stepsOf } from '../../fakes/step-count.ts';

/** The files of a bundle with a member in each list that rules look at. */
const FILES = load(readFileSync('test/catalog/bundle/fixtures/every-list.yaml', 'utf8')) as Record<
  string,
  unknown
>;

/** Maps whose keys anybody may choose. */
const MAPS = ['annotations', 'labels', 'matchLabels', 'properties', 'limits'];

/** What tells a rule what a member is for: it stays as it is. */
const FIXED = ['apiVersion', 'kind', 'operator', 'type', 'version', 'key'];

type Json = Readonly<Record<string, unknown>>;
type Renamed = (value: unknown, i: number) => unknown;

const asItIs: Renamed = (value) => value;

const numbered: Renamed = (value, i) => {
  if (typeof value === 'string')
    return value.replace(
      /^[^:@/]*/,
      (name) => `${name.split('.')[0]}${i}${name.slice(name.split('.')[0]?.length)}`,
    );
  if (Array.isArray(value)) return value.map((one) => numbered(one, i));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, FIXED.includes(key) ? one : numbered(one, i)]),
  );
};

/** With text where it does not belong, and keys in another case. */
const misfit: Renamed = (value, i) => {
  if (Array.isArray(value)) return value.map((one) => misfit(one, i));
  if (typeof value !== 'object' || value === null) return { [`a${i}`]: 1 };
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) =>
      FIXED.includes(key) ? [key, one] : [key.replace(/^./, (first) => first.toUpperCase()), misfit(one, i)],
    ),
  );
};

/** With numbers for text. */
const unquoted: Renamed = (value, i) => {
  if (Array.isArray(value)) return value.map((one) => unquoted(one, i));
  if (typeof value !== 'object' || value === null) return i;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, FIXED.includes(key) ? one : unquoted(one, i)]),
  );
};

/** A value with so many more members in each list and map; lists in lists only grow in the first member. */
function grown(value: unknown, count: number, renamed: Renamed, key = ''): unknown {
  const places = Array.from({ length: count }, (_, i) => i);
  if (key === 'alm-examples') return JSON.stringify(grown(JSON.parse(String(value)), count, renamed));
  if (Array.isArray(value)) {
    const [first, ...others] = value;
    const more = places.flatMap((i) => value.map((one) => renamed(one, i)));
    return [grown(first, count, renamed), ...others, ...more];
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const same = members.map(([name, one]) => [name, grown(one, count, renamed, name)]);
  const last = members.at(-1)?.[1];
  const more = MAPS.includes(key) ? places.map((i) => [`k${i}`, last]) : [];
  return Object.fromEntries([...same, ...more]);
}

function grownBundle(count: number, renamed: Renamed): Promise<Inspected> {
  const files: Record<string, string> = {};
  for (const [path, value] of Object.entries(FILES)) {
    files[path] = dump(grown(value, count, renamed), { noRefs: true });
    if (!path.startsWith('manifests/')) continue;
    for (let i = 0; i < count / 5; i++)
      files[path.replace('.yaml', `${i}.yaml`)] = dump(renamed(value as Json, i), { noRefs: true });
  }
  return inspectedBundle(sourceOf(files));
}

test.each([
  ['other', numbered, 40],
  ['the same', asItIs, 40],
  ['wrong', misfit, 10],
  ['unquoted', unquoted, 40],
] as const)(
  '111: the steps of each rule grow with the bundle, with %s members',
  async (_, renamed, count) => {
    const bundles = await Promise.all([1, 2, 4].map((times) => grownBundle(times * count, renamed)));
    // What is read once and kept is read here.
    for (const bundle of bundles) runInspection(bundle, INSPECTION_RULES);
    const steep = INSPECTION_RULES.flatMap((rule) => {
      const [a = 0, b = 0, c = 0] = bundles.map((bundle) => stepsOf(() => runInspection(bundle, [rule])));
      return c - b > 2.4 * (b - a) ? [`${rule.id}: ${a}, ${b}, ${c}`] : [];
    });
    expect(steep).toEqual([]);
  },
);
