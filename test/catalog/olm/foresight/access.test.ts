import { expect, test } from 'vitest';
import { addedGrants } from '../../../../catalog/olm/foresight/access.ts';
import type { AccessRule, Permission } from '../../../../catalog/olm/manifests.ts';

const rule = (apiGroups: string[], resources: string[], verbs: string[], more: Partial<AccessRule> = {}) => ({
  apiGroups,
  resources,
  verbs,
  resourceNames: [],
  nonResourceURLs: [],
  ...more,
});

const wide = (...rules: AccessRule[]): Permission[] => [{ wide: true, account: 'a', rules }];
const narrow = (...rules: AccessRule[]): Permission[] => [{ wide: false, account: 'b', rules }];
const added = (before: Permission[], after: Permission[]): string[] =>
  addedGrants(before, after).grants.map(
    (grant) => `${grant.wide ? 'wide' : 'narrow'} ${grant.on}: ${grant.verbs.join(' ')}`,
  );

const pods = rule([''], ['pods'], ['get', 'list']);
const paths = (...nonResourceURLs: string[]): AccessRule => rule([], [], ['get'], { nonResourceURLs });

test.each<[string, Permission[], Permission[], string[]]>([
  ['the same', wide(pods), wide(pods), []],
  ['another account', wide(pods), [{ wide: true, account: 'other', rules: [pods] }], []],
  ['a verb', wide(pods), wide(rule([''], ['pods'], ['get', 'delete'])), ['wide pods: delete']],
  ['everywhere instead of here', narrow(pods), wide(pods), ['wide pods: get list']],
  ['here instead of everywhere', wide(pods), narrow(pods), []],
  [
    'all groups',
    wide(rule(['*'], ['*'], ['*'])),
    wide(rule(['apps'], ['deployments/scale'], ['update'])),
    [],
  ],
  ['a star is more than all that is named', wide(pods), wide(rule(['*'], ['*'], ['*'])), ['wide *.*: *']],
  [
    'a subresource is not its object',
    wide(rule(['apps'], ['deployments'], ['update'])),
    wide(rule(['apps'], ['deployments/scale'], ['update'])),
    ['wide deployments.apps/scale: update'],
  ],
  [
    'one subresource of all objects',
    wide(rule(['apps'], ['*/scale'], ['update'])),
    wide(rule(['apps'], ['deployments/scale', 'deployments/status'], ['update'])),
    ['wide deployments.apps/status: update'],
  ],
  [
    'an object by name',
    wide(rule([''], ['secrets'], ['get'], { resourceNames: ['a'] })),
    wide(rule([''], ['secrets'], ['get'], { resourceNames: ['a', 'b'] })),
    ['wide secrets "b": get'],
  ],
  [
    'all objects instead of one',
    wide(rule([''], ['secrets'], ['get'], { resourceNames: ['a'] })),
    wide(rule([''], ['secrets'], ['get'])),
    ['wide secrets: get'],
  ],
  ['paths', wide(paths('/healthz/*')), wide(paths('/healthz/ready', '/metrics')), ['wide /metrics: get']],
])('what is added: %s', (_, before, after, expected) => {
  expect(added(before, after)).toEqual(expected);
});

test('what is too much to compare is said', () => {
  const many = Array.from({ length: 200 }, (_, i) => `r${i}`);
  const { isComplete, grants } = addedGrants([], wide(rule(many, many, ['get'])));
  expect(isComplete).toBe(false);
  expect(grants).toHaveLength(20_000);
});
