import { expect, test } from 'vitest';
import type { Rule } from '../../../catalog/rules/rule.ts';
import { readPolicy } from '../../../pipeline/policy/read-policy.ts';
import { inChannel, severitiesOf } from '../../../pipeline/policy/severity.ts';

test('a rule’s own line counts before its group’s, and that before the rule’s own severity', () => {
  const text =
    'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {"fbc/*": off, fbc/yaml: {allowChannels: [nightly-*]}, fbc/object: warning}\n';
  const { policy } = readPolicy(new TextEncoder().encode(text));
  if (!policy) throw new Error('no policy');
  const severity = severitiesOf(policy);
  const rule = (id: string): Rule => ({ id, severity: 'error', summary: 'x' });
  expect(['fbc/yaml', 'fbc/object', 'fbc/schema', 'graph/stuck-v1'].map((id) => severity(rule(id)))).toEqual([
    'error',
    'warning',
    'off',
    'error',
  ]);
  const found = {
    rule: 'fbc/yaml',
    severity: 'error',
    message: 'x',
    location: { file: 'f', line: 1, column: 1 },
  } as const;
  const severityIn = (channel: string, more: object = {}) =>
    inChannel(policy, { ...found, channel, ...more }).severity;
  expect(severityIn('nightly-5')).toBe('info');
  expect(severityIn('stable')).toBe('error');
  expect(severityIn('nightly-5', { rule: 'fbc/object' })).toBe('error');
  expect(inChannel(policy, found).severity).toBe('error');
});

test('what no rule takes is a finding of the policy', () => {
  const text = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {fbc/yaml: {allowed: [nightly]}}\n';
  const { policy, findings } = readPolicy(new TextEncoder().encode(text));
  expect([policy, findings.length]).toEqual([undefined, 1]);
});
