import { expect, test } from 'vitest';
import { templateKind } from '../../../../catalog/opm/template/kinds.ts';

const kindOf = (text: string) =>
  templateKind({ file: 'template.yaml', bytes: new TextEncoder().encode(text) });

test.each([
  ['olm.template.basic', 'basic'],
  ['olm.semver', 'semver'],
  ['olm.template.substitutes', 'substitutes'],
])('a template with the schema %s is of the kind %s', (schema, name) => {
  expect(kindOf(`schema: ${schema}\nentries: []\n`)?.name).toBe(name);
});

test.each([
  'schema: olm.package\nname: p\n',
  'schema: olm.template\n',
  'schema: olm.composite\n',
  'entries: []\n',
  '{',
  '',
])('%j is not a template', (text) => {
  expect(kindOf(text)).toBeUndefined();
});
