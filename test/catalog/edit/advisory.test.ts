import { expect, test } from 'vitest';
import { applyEdit } from '../../../catalog/edit/advisory.ts';
import { fileText, joinedText } from '../../../catalog/edit/file.ts';
import { documentText } from '../../../catalog/edit/list.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Advisory } from '../../../catalog/olm/advisory/advisory.ts';
import { planOf } from '../../../catalog/olm/advisory/plan.ts';
import { worldOf } from '../../../catalog/olm/foresight/world.ts';
import { sourceOf } from '../../../catalog/source.ts';

const bundle = (version: string): string =>
  `---
schema: olm.bundle
package: p
name: p.v${version}
image: quay.io/example/p:v${version}
properties:
- {type: olm.package, value: {packageName: p, version: ${version}}}
`;

const CATALOG = `---
schema: olm.package
name: p
defaultChannel: a # the only one
---
# The stable channel.
schema: olm.channel
package: p
name: a
entries:
  # newest
  - name: p.v1.2.0
    replaces: p.v1.1.0
    x-note: kept
  # bad
  - name: p.v1.1.0
    replaces: p.v1.0.0
  # oldest
  - name: p.v1.0.0
properties: []
---
schema: olm.deprecations
package: p
entries:
- reference: {schema: olm.bundle, name: p.v1.1.0}
  message: bad
${['1.0.0', '1.1.0', '1.2.0'].map(bundle).join('')}`;

const YANK: Advisory = {
  id: 'A-1',
  package: 'p',
  versions: ['1.1.0'],
  reason: { kind: 'withdrawn' },
  action: 'yank',
  message: 'bad',
  allowDowngrade: false,
  withoutUpgradePath: [],
};

async function catalogFrom(text: string): Promise<Catalog> {
  const { blobs, findings } = await load(sourceOf({ 'catalog.yaml': text }));
  expect(findings).toEqual([]);
  return catalogOf(blobs);
}

/** The text after an advisory; what is left to change after it. */
async function applied(text: string, advisory: Advisory) {
  const catalog = await catalogFrom(text);
  const plan = planOf(await worldOf({ name: 'cat', catalog }), advisory);
  const ofPackage = catalog.packages.get('p');
  if (!ofPackage) throw new Error('no package');
  const [file] = applyEdit([fileText('catalog.yaml', new TextEncoder().encode(text))], ofPackage, plan.edit);
  return file && joinedText(file);
}

test('an entry goes, and the one above it follows what that one replaced: all other lines stay', async () => {
  const after = await applied(CATALOG, YANK);
  expect(after).toBe(
    CATALOG.replace(
      '  - name: p.v1.2.0\n    replaces: p.v1.1.0\n    x-note: kept\n',
      '  - name: p.v1.2.0\n    replaces: p.v1.0.0\n    skips:\n    - p.v1.1.0\n    x-note: kept\n',
    )
      .replace('  - name: p.v1.1.0\n    replaces: p.v1.0.0\n', '')
      .replace(/---\nschema: olm.deprecations[\s\S]*?message: bad\n/, '')
      .replace(bundle('1.1.0'), ''),
  );
});

test('a document in JSON keeps its indentation', async () => {
  const blobs = [
    { schema: 'olm.package', name: 'p', defaultChannel: 'a' },
    {
      schema: 'olm.channel',
      package: 'p',
      name: 'a',
      entries: [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0' }, { name: 'p.v1.0.0' }],
    },
    ...['1.0.0', '1.1.0'].map((version) => ({
      schema: 'olm.bundle',
      package: 'p',
      name: `p.v${version}`,
      image: `quay.io/example/p:v${version}`,
      properties: [{ type: 'olm.package', value: { packageName: 'p', version } }],
    })),
  ];
  const text = blobs.map((blob) => `${JSON.stringify(blob, null, 2)}\n`).join('');
  const after = await applied(text, YANK);
  expect(after?.startsWith(`${JSON.stringify(blobs[0], null, 2)}\n`)).toBe(true);
  expect(after).toContain('  "entries": [\n    {\n      "name": "p.v1.0.0"\n    }\n  ]');
  expect(after).not.toContain('1.1.0');
});

test('another default channel, where the old one goes', async () => {
  const text = CATALOG.replace(
    '---\nschema: olm.deprecations',
    '---\nschema: olm.channel\npackage: p\nname: b\nentries: [{name: p.v1.0.0}]\n---\nschema: olm.deprecations',
  ).replace(/ {2}# oldest\n {2}- name: p.v1.0.0\n/, '');
  const after = await applied(text, { ...YANK, versions: ['>=1.1.0'] });
  expect(after).toContain('defaultChannel: b # the only one\n');
  expect(after).not.toContain('name: a\n');
});

test('a deprecation is added, and a package without other versions goes', async () => {
  const after = await applied(CATALOG, { ...YANK, action: 'deprecate', versions: ['1.0.0'] });
  expect(after).toContain('- message: bad\n  reference:\n    name: p.v1.0.0\n    schema: olm.bundle\n');
  expect(await applied(CATALOG, { ...YANK, versions: ['>=1.0.0'] })).toBe('');
});

test('JSON that is written anew escapes what opm escaped, and nothing else', () => {
  const escaped = '{"a": "\\u003c1.0.0"}\n';
  expect(documentText(escaped, 'json', JSON.parse(escaped))).toBe('{"a":"\\u003c1.0.0"}\n');
  expect(documentText('{"a": "<1.0.0"}\n', 'json', { a: '<1.0.0' })).toBe('{"a":"<1.0.0"}\n');
});
