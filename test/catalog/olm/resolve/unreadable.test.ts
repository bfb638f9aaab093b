import { expect, test } from 'vitest';
import { loadCel } from '../../../../catalog/fbc/cel/cel.ts';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { isMet } from '../../../../catalog/olm/resolve/provider.ts';
import { requirementOf } from '../../../../catalog/olm/resolve/requirement.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { parseVersion } from '../../../../catalog/version/version.ts';

/** Package `p` from 1.0.0 to 1.1.0, which requires `q`; the newest of its bundles requires what a test says. */
function textOf(required: string): string {
  const bundle = (of: string, version: string, more = ''): string =>
    `{schema: olm.bundle, name: ${of}.v${version}, package: ${of}, image: "quay.io/x/${of}:v${version}", properties: [{type: olm.package, value: {packageName: ${of}, version: ${version}}}${more}]}`;
  const needs = (of: string, range: string): string =>
    `, {type: olm.package.required, value: {packageName: ${of}, versionRange: "${range}"}}`;
  return [
    '{schema: olm.package, name: p, defaultChannel: a}',
    '{schema: olm.channel, package: p, name: a, entries: [{name: p.v1.0.0}, {name: p.v1.1.0, replaces: p.v1.0.0}]}',
    bundle('p', '1.0.0'),
    bundle('p', '1.1.0', needs('q', '>=1.0.0')),
    '{schema: olm.package, name: q, defaultChannel: a}',
    '{schema: olm.channel, package: q, name: a, entries: [{name: q.v1.0.0}, {name: q.v1.1.0, replaces: q.v1.0.0}]}',
    bundle('q', '1.0.0'),
    bundle('q', '1.1.0', needs('r', required)),
    '{schema: olm.package, name: r, defaultChannel: a}',
    '{schema: olm.channel, package: r, name: a, entries: [{name: r.v1.0.0}]}',
    bundle('r', '1.0.0'),
  ].join('\n---\n');
}

async function nextOf(required: string, companions: ReadonlyMap<string, ReturnType<typeof catalogOf>>) {
  const { blobs } = await load(sourceOf({ 'catalog.yaml': textOf(required) }));
  const { foresight } = await worldOf({ name: 'c', catalog: catalogOf(blobs), companions });
  return foresight.v0({ package: 'p', channel: 'a' }, { name: 'p.v1.0.0', version: parseVersion('1.0.0') })
    .next;
}

const NOTHING = catalogOf({ packages: [], channels: [], bundles: [], deprecations: [], others: [] });

test.each([
  ['alone', new Map()],
  ['with another catalog', new Map([['other', NOTHING]])],
])('a bundle that nobody needs stops the upgrade to one that may need it: %s', async (_, companions) => {
  expect(await nextOf('>=v1.0', companions)).toMatchObject({
    kind: 'fails',
    reason: { code: 'bad-dependency', bundle: 'q.v1.1.0' },
  });
  expect(await nextOf('>=1.0.0', companions)).toMatchObject({ kind: 'upgrade', to: { name: 'p.v1.1.0' } });
});

test('the size of a constraint is counted in bytes, as OLM counts it', () => {
  const sized = (label: string) => ({
    type: 'olm.constraint',
    value: { failureMessage: label.repeat(70_000), package: { packageName: 'q', versionRange: '>=1.0.0' } },
  });
  expect(() => requirementOf(sized('a'), undefined)).not.toThrow();
  expect(() => requirementOf(sized('é'), undefined)).toThrow('greater than max constraint size 131072 bytes');
});

test('a cheap rule that the library cannot evaluate is not only called expensive', async () => {
  const cel = await loadCel();
  const value = { failureMessage: 'none', cel: { rule: 'has(properties[0])' } };
  expect(() => requirementOf({ type: 'olm.constraint', value }, cel)).toThrow(
    'the rule is too expensive, or uses what is not evaluated here: has(properties[0])',
  );
});

test('compound constraints that the resolver words alike are told apart', async () => {
  const { blobs } = await load(sourceOf({ 'catalog.yaml': textOf('>=1.0.0') }));
  const { foresight } = await worldOf({ name: 'c', catalog: catalogOf(blobs) });
  const one = (range: string) => ({ package: { packageName: 'q', versionRange: range } });
  const [none, other, every] = [one('>=3.0.0'), one('>=2.0.0'), one('>=1.0.0')];
  const read = (value: unknown) => requirementOf({ type: 'olm.constraint', value }, undefined);
  const met = read({ any: { constraints: [{ all: { constraints: [none, other] } }, every] } });
  const unmet = read({ all: { constraints: [none, { any: { constraints: [other, every] } }] } });
  expect(met.text).toBe(unmet.text);
  expect([isMet(foresight.scope, met), isMet(foresight.scope, unmet)]).toEqual([true, false]);
});
