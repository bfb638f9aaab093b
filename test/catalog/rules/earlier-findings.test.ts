import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import { knownFrom } from '../../../catalog/rules/earlier-findings.ts';

const stuck: Finding = {
  rule: 'graph/stranded-v0',
  severity: 'error',
  message: 'under OLM v0 1.0.0 cannot reach the head, 1.2.0',
  location: { file: 'a.yaml', line: 1, column: 1 },
  package: 'etcd',
  channel: 'stable',
  installed: ['1.0.0'],
};
const long: Finding = { ...stuck, rule: 'graph/path-length', severity: 'info', subject: 'hops' };
const isKnown = knownFrom([stuck, long]);

test.each<[string, Finding, Partial<Finding>]>([
  ['its text', stuck, { message: 'under OLM v0 1.0.0 cannot reach the head, 1.3.0' }],
  ['its line', stuck, { location: { file: 'b.yaml', line: 7, column: 3 } }],
  ['its hint', stuck, { hint: 'replaces: etcd.v1.0.0' }],
  ['a milder severity', stuck, { severity: 'warning' }],
  ['fewer installations', stuck, { installed: [] }],
  ['more installations of one subject', long, { installed: ['1.0.0', '1.1.0'] }],
])('a finding that differs by %s is known', (_, finding, change) => {
  expect(isKnown({ ...finding, ...change })).toBe(true);
});

test.each<[string, Finding, Partial<Finding>]>([
  ['its rule', stuck, { rule: 'graph/stuck-v1' }],
  ['its package', stuck, { package: 'kafka' }],
  ['its channel', stuck, { channel: 'fast' }],
  ['its subject', long, { subject: 'other' }],
  ['a worse severity', long, { severity: 'warning' }],
  ['another installation', stuck, { installed: ['1.0.0', '1.1.0'] }],
])('a finding that differs by %s is news', (_, finding, change) => {
  expect(isKnown({ ...finding, ...change })).toBe(false);
});
