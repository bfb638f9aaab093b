import { expect, test } from 'vitest';
import { judgeChange } from '../../fakes/rule-fixture.ts';

test.each([
  ['led-astray', 'error'],
  ['no-way-over', 'info'],
  ['way-over', 'info'],
])('%s: %s, since only who loses an upgrade is harmed', async (name, severity) => {
  const findings = await judgeChange('test/rules/graph/default-channel-changed', `${name}.base.yaml`);
  const own = findings.filter(({ rule }) => rule === 'graph/default-channel-changed');
  expect(own.map((finding) => finding.severity)).toEqual([severity]);
  // A policy that allows findings about one channel alone does not allow this one.
  expect(own.map((finding) => finding.channel)).toEqual([undefined]);
});
