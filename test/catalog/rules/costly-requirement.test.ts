/** A rule in CEL that costs too much only with a bundle of the catalog: a finding at its place, whatever evaluates it first. */
import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { worldOf } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runForesight } from '../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../catalog/source.ts';

/** Steps: the square of the number of properties. */
const RULE = "properties.all(a, properties.all(b, b.type != 'none'))";

const PLACES = [
  { cel: { rule: RULE } },
  { not: { constraints: [{ cel: { rule: RULE } }] } },
  { any: { constraints: [{ cel: { rule: "'a' == 'b'" } }, { cel: { rule: RULE } }] } },
];

function packageOf(name: string, versions: readonly string[], properties: readonly object[]): object[] {
  const entries = versions.map((version, i) => ({
    name: `${name}.v${version}`,
    ...(i > 0 ? { replaces: `${name}.v${versions[i - 1]}` } : {}),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...versions.map((version, i) => ({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image: `quay.io/sea/${name}@sha256:${String(i).repeat(64)}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...properties],
    })),
  ];
}

async function foreseen(count: number, constraint: object): Promise<Finding[]> {
  const many = Array.from({ length: count }, (_, i) => ({ type: 'olm.label', value: { label: `l${i}` } }));
  const asking = [{ type: 'olm.constraint', value: { failureMessage: 'x', ...constraint } }];
  const blobs = [...packageOf('p', ['1.0.0', '1.1.0'], asking), ...packageOf('q', ['1.0.0'], many)];
  const text = blobs.map((blob) => `${JSON.stringify(blob)}\n`).join('');
  const { blobs: read } = await load(sourceOf({ 'catalog.json': text }));
  return runForesight(await worldOf({ name: 'cat', catalog: catalogOf(read) }), RULES);
}

test.each(PLACES)('44: a rule that costs too much is reported at its place: %j', async (constraint) => {
  const found = (await foreseen(2000, constraint)).filter(
    ({ rule }) => rule === 'graph/unreadable-requirement',
  );
  expect(found).toEqual([
    expect.objectContaining({
      severity: 'error',
      message: expect.stringContaining(`was not checked (olm.constraint): the rule is too expensive`),
      location: expect.objectContaining({ file: 'catalog.json', line: 4 }),
    }),
  ]);
});

test.each(PLACES)('44: the same rule is evaluated where it is cheap: %j', async (constraint) => {
  const rules = (await foreseen(20, constraint)).map(({ rule }) => rule);
  expect(rules).not.toContain('graph/unreadable-requirement');
});
