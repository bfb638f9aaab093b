/** What was never published is told in notes; its twin that was published is an error. */
import { expect, test } from 'vitest';
import { judgeChange } from '../../fakes/rule-fixture.ts';

test.each([
  ['graph/bundle-mutated', 'yet-unpublished', ['error', 'info']],
  ['graph/channel-removed', 'yet-unpublished', ['info']],
  ['graph/channel-removed', 'while-the-package-stays', ['error']],
  ['graph/crd-unsafe-edge', 'from-unpublished', ['info']],
  ['graph/crd-unsafe-edge', 'from-published', ['error']],
  ['graph/default-channel-changed', 'yet-unpublished', ['info']],
  ['graph/default-channel-changed', 'yet-unpublished-end', ['error']],
  ['graph/default-channel-changed', 'led-astray', ['error']],
  ['graph/head-regression', 'yet-unpublished', ['info']],
  ['graph/head-regression', 'yet-unpublished-above', ['error']],
  ['graph/package-removed', 'yet-unpublished', ['info']],
  ['graph/package-removed', 'without-notice', ['error']],
])('%s: %s', async (rule, fixture, severities) => {
  const findings = await judgeChange(`test/rules/${rule}`, `${fixture}.base.yaml`);
  expect(findings.filter((one) => one.rule === rule).map(({ severity }) => severity)).toEqual(severities);
});
