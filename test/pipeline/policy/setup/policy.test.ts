import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { firstPolicy } from '../../../../pipeline/policy/setup/policy.ts';

test('names that mean something else in YAML stay names', () => {
  const admins = ['@acme/admins', "o'hara", 'a, b]', 'null', '#1', 'line\nbreak: x', '\u0007'];
  const policy = load(firstPolicy({ patterns: [], catalogs: [] }, admins));
  expect(policy).toMatchObject({ owners: { admins } });
});

test.each([
  ['a file that the default layout takes for a catalog', ['catalog/index.yaml'], undefined, 'catalog'],
  ['a file elsewhere', ['deploy/index.yaml'], 'catalog', 'catalog'],
])('%s, and is none, is no catalog of the policy; others may come', (_, others, itself, later) => {
  const text = firstPolicy({ patterns: [], catalogs: [], others }, ['amy'], {
    bundlePatterns: ['bundles/{package}/{version}/**'],
  });
  const { policy, findings } = readPolicy(Buffer.from(text));
  expect(findings).toEqual([]);
  expect(policy?.layout.match('catalog/index.yaml')?.kind).toBe(itself);
  expect(policy?.layout.match('catalogs/v4.20/etcd/catalog.yaml')?.kind).toBe(later);
  expect(policy?.layout.match('bundles/etcd/1.0.0/x')?.kind).toBe('bundle');
});
