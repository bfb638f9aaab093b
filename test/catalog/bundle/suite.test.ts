import { expect, test } from 'vitest';
import { isInSuite, SUITE_NAMES, seenBy, VIEW_NAMES } from '../../../catalog/bundle/suite.ts';
import { RULES } from '../../../catalog/rules/index.ts';

const ids = RULES.filter(({ inspect }) => inspect).map(({ id }) => id);

test('every rule about bundles is in a suite, and what OLM v0 needs is in every one', () => {
  for (const id of ids) expect(SUITE_NAMES.some((name) => isInSuite(id, name))).toBe(true);
  for (const name of SUITE_NAMES) expect(isInSuite('csv/name', name)).toBe(true);
  expect(isInSuite('csv/provider', 'default')).toBe(false);
  expect(isInSuite('csv/provider', 'community')).toBe(true);
  expect(isInSuite('object/type', 'operatorhub')).toBe(false);
});

test('a view has none of the findings that its tool is blind to', () => {
  const location = { file: 'f', line: 1, column: 1 };
  const findings = ids.map((rule) => ({ rule, severity: 'warning' as const, message: '', location }));
  expect(seenBy('opm', findings)).toEqual([]);
  expect(
    VIEW_NAMES.map((view) => seenBy(view, findings).some(({ rule }) => rule === 'csv/unquoted')),
  ).toEqual([false, false]);
});
