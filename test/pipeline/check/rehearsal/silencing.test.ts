import { expect, test } from 'vitest';
import type { Finding } from '../../../../catalog/finding.ts';
import { proposedSettings } from '../../../../pipeline/check/rehearsal/silencing.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';

const error = (more: Partial<Finding>): Finding => ({
  rule: 'graph/channel-removed',
  severity: 'error',
  message: 'gone',
  location: { file: 'x', line: 1, column: 1 },
  ...more,
});

const policyOf = (...merges: Finding[][]): string => {
  const { policy } = proposedSettings(merges, '2026-11-30');
  const whole = `apiVersion: portolan/v1alpha1\nkind: Portolan\n${policy}`;
  expect(readPolicy(Buffer.from(whole)).findings).toEqual([]);
  return policy;
};

const thrice = (...errors: Finding[]): Finding[][] => [errors, errors, errors];

test('channels that are meant to change are allowed to', () => {
  const nightly = [
    error({ package: 'a', channel: '1.0-nightly' }),
    error({ package: 'b', channel: 'nightly' }),
  ];
  expect(policyOf(nightly)).toBe("rules:\n  graph/channel-removed: {allowChannels: ['*nightly*']}\n");
  expect(policyOf([...nightly, error({ package: 'a', channel: 'stable' })])).not.toContain('allowChannels');
});

test('few packages get a waiver that ends', () => {
  expect(policyOf(...thrice(error({ package: 'a' })))).toBe(
    'waivers:\n- {rule: graph/channel-removed, package: a, until: 2027-02-28, reason: say why it is intended}\n',
  );
});

test('a rule with errors in many packages observes only', () => {
  const many = ['a', 'b', 'c'].map((name) => error({ package: name }));
  expect(policyOf(...thrice(...many))).toBe('rules:\n  graph/channel-removed: {enforce: off}\n');
  expect(proposedSettings(thrice(...many), '2026-01-01').lines).toEqual([
    { rule: 'graph/channel-removed', setting: '{enforce: off}', errors: 9, merges: 3 },
  ]);
});

test('what happened twice is no practice, and gets no waiver', () => {
  expect(policyOf([error({ package: 'a' })], [error({ package: 'a' }), error({ package: 'a' })])).toBe('');
});

test('what no rule reports cannot be silenced', () => {
  expect(policyOf(...thrice(error({ rule: 'policy/value' })))).toBe('');
  expect(policyOf(...thrice(error({ rule: 'layout/unmatched' })))).toBe('');
  expect(policyOf([])).toBe('');
});

test('bundles that changed lead to the setting that says what is released', () => {
  expect(policyOf(...thrice(error({ rule: 'graph/bundle-mutated', package: 'a' })))).toMatch(
    /^# If bundles change before their release, .*\nwaivers:\n/,
  );
  expect(policyOf(...thrice(error({ package: 'a' })))).not.toContain('#');
});

test('what opm cannot serve is corrected, not silenced', () => {
  expect(policyOf(...thrice(error({ rule: 'entry/no-bundle', package: 'a' })))).toBe('');
  expect(policyOf(...thrice(error({ rule: 'graph/head-regression', package: 'a' })))).toContain('waivers:');
});
