import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { firstPolicy } from '../../../../pipeline/policy/setup/policy.ts';

test('names that mean something else in YAML stay names', () => {
  const admins = ['@acme/admins', "o'hara", 'a, b]', 'null', '#1', 'line\nbreak: x', '\u0007'];
  const policy = load(firstPolicy({ patterns: [], catalogs: [] }, admins));
  expect(policy).toMatchObject({ owners: { admins } });
});
