import { expect, test } from 'vitest';
import { judgeChange } from '../../fakes/rule-fixture.ts';

test.each([
  ['predecessor-removed', 'error'],
  ['refused-before', 'warning'],
])('%s: %s, since OLM v1 worked for nobody that it refused before', async (name, severity) => {
  const findings = await judgeChange('test/rules/graph/strands-installed-v1', `${name}.base.yaml`);
  const own = findings.filter(({ rule }) => rule === 'graph/strands-installed-v1');
  expect(own.map((finding) => finding.severity)).toEqual([severity]);
});
