import { expect, test } from 'vitest';
import type { Rule } from '../../../catalog/rules/rule.ts';
import { readPolicy } from '../../../pipeline/config.ts';
import { settingOf, severitiesOf } from '../../../pipeline/policy/severity.ts';

test('a rule’s own line counts before its group’s, and that before the rule’s own severity', () => {
  const text =
    'apiVersion: portolan/v1alpha1\nkind: Portolan\nrules: {"a/*": off, a/x: {allow: [1]}, a/y: warning}\n';
  const { policy } = readPolicy(new TextEncoder().encode(text));
  if (!policy) throw new Error('no policy');
  const severity = severitiesOf(policy);
  const rule = (id: string): Rule => ({ id, severity: 'error', summary: 'x' });
  expect(['a/x', 'a/y', 'a/z', 'b/x'].map((id) => severity(rule(id)))).toEqual([
    'error',
    'warning',
    'off',
    'error',
  ]);
  expect(settingOf(policy, 'a/x')?.parameters).toEqual({ allow: [1] });
});
