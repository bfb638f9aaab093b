/** What rules read besides the catalog and its simulation is what they declare, so that a check can leave the rest away. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { World } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import type { Rule, RuleInput } from '../../../catalog/rules/rule.ts';
import { fixturesIn, judgeChange, judgeState } from '../../fakes/rule-fixture.ts';

const INPUTS: Partial<Record<keyof World, readonly RuleInput[]>> = {
  companions: ['catalogs'],
  hasCompanions: ['catalogs'],
  following: ['catalogs'],
  preceding: ['catalogs'],
  predecessors: ['catalogs'],
  publications: ['catalogs', 'history'],
  published: ['history'],
  isPublished: ['history'],
  crds: ['manifests'],
  manifests: ['manifests'],
  digests: ['registry'],
};

/** What each rule read in any fixture. */
const read = new Map<string, Set<RuleInput>>();

beforeAll(async () => {
  const watching = RULES.map(watched);
  for (const { id } of RULES) {
    const folder = join('test/rules', id);
    if (!existsSync(folder)) continue;
    const { states, changes } = fixturesIn(folder);
    for (const file of states) await judgeState(folder, file, undefined, watching);
    for (const file of changes) await judgeChange(folder, file, undefined, watching);
  }
});

/** A rule that notes what it reads. */
function watched(rule: Rule): Rule {
  const { id, checkWorld, compare } = rule;
  return {
    ...rule,
    ...(checkWorld && { checkWorld: (world, report) => checkWorld(noted(world, id), report) }),
    ...(compare && {
      compare: (change, report) =>
        compare({ ...change, before: noted(change.before, id), after: noted(change.after, id) }, report),
    }),
  };
}

function noted(world: World, id: string): World {
  const own = read.get(id) ?? new Set();
  read.set(id, own);
  return new Proxy(world, {
    get(target, key: keyof World) {
      for (const input of INPUTS[key] ?? []) own.add(input);
      return target[key];
    },
  });
}

const aboutClusters = RULES.filter(({ checkWorld, compare }) => checkWorld ?? compare);

test.each(aboutClusters.map((rule) => [rule.id, rule] as const))('%s reads what it declares', (id, rule) => {
  expect([...(read.get(id) ?? [])].sort().join()).toBe((rule.reads ?? []).join());
});
