import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../pipeline/policy/read-policy.ts';
import { type Gate, openGate, POLICY } from '../../fakes/gate.ts';
import type { Files } from '../../fakes/repository.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

const OWNERS = `  packages: {kept: ['carol#12'], mine: ['mallory#66']}`;
const FREE = `${POLICY.replace('  blocked: []', OWNERS)}approval: {required: {root: none, unknown: none}}\n`;

function bundleOf(folder: string, name: string, csv = 'kind: ClusterServiceVersion\n'): Files {
  return {
    [`${folder}/manifests/csv.yaml`]: csv,
    [`${folder}/metadata/annotations.yaml`]: `annotations:\n  operators.operatorframework.io.bundle.package.v1: ${name}\n`,
  };
}

const BASE: Files = {
  [POLICY_PATH]: FREE,
  ...bundleOf('old/kept-operator/1.0.0', 'kept'),
  ...bundleOf('bundle', 'kept'),
  ...bundleOf('other', 'nobodys'),
  ...bundleOf('e2e/bundle', 'kept'),
  'odd/manifests/csv.yaml': '',
  'odd/metadata/bundle.yml': bundleOf('', 'kept')['/metadata/annotations.yaml'] ?? '',
};

test.each<[string, Files, string | undefined]>([
  ['a changed version', { 'old/kept-operator/1.0.0/manifests/csv.yaml': 'x' }, 'mutate-published'],
  ['a file more', { 'old/kept-operator/1.0.0/manifests/crd.yaml': 'x' }, 'mutate-published'],
  ['a bundle that is generated again', { 'bundle/manifests/csv.yaml': 'x' }, 'add-entry'],
  ['annotations in a file of another name', { 'odd/manifests/csv.yaml': 'x' }, 'add-entry'],
  ['a new folder', bundleOf('anywhere/kept', 'kept'), 'add-entry'],
  ['a bundle that gets the name of another package', bundleOf('bundle', 'mine'), 'add-entry'],
  [
    'a bundle that is removed',
    { 'bundle/manifests/csv.yaml': null, 'bundle/metadata/annotations.yaml': null },
    'prune',
  ],
  ['a bundle of a package without owners', { 'other/manifests/csv.yaml': 'x' }, undefined],
  ['a bundle of a test', { 'e2e/bundle/manifests/csv.yaml': 'x' }, undefined],
  ['a file beside the bundle', { 'bundle/tests/config.yaml': 'x' }, undefined],
])('the owners in the policy approve %s outside the layout', async (_, head, expected) => {
  const { classes, decision } = await gate.judge({ base: BASE, head, author: 'mallory' });
  expect(classes['kept']).toBe(expected);
  expect(decision.authority).toBe(expected ? 'needs' : 'allow');
});

test('an owner changes the own bundle, which is not merged by hand, and not one of others with it', async () => {
  const own = { 'bundle/manifests/csv.yaml': 'x' };
  expect((await gate.judge({ base: BASE, head: own, author: 'carol' })).decision).toMatchObject({
    authority: 'allow',
    byHand: [],
  });
  const mine = bundleOf('mine', 'mine');
  const both = await gate.judge({
    base: { ...BASE, ...mine },
    head: { ...own, 'mine/manifests/csv.yaml': 'x' },
  });
  expect(both.decision).toMatchObject({
    authority: 'needs',
    needs: [{ who: 'owner', from: ['carol'], subjects: ['package kept'] }],
  });
});

test('who must approve files outside the layout is asked besides', async () => {
  const base = { ...BASE, [POLICY_PATH]: FREE.replace(/approval:.*\n/, '') };
  const head = { 'bundle/manifests/csv.yaml': 'x' };
  expect((await gate.judge({ base, head, author: 'carol' })).decision).toMatchObject({
    authority: 'needs',
    needs: [{ who: 'admin', subjects: ['unknown'] }],
  });
});
