import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { conversionError } from '../../../catalog/opm/model.ts';
import { treeText, validationTree } from '../../../catalog/opm/tree.ts';
import { sourceOf } from '../../../catalog/source.ts';

async function said(text: string): Promise<string | undefined> {
  const { blobs } = await load(sourceOf({ 'catalog.yaml': text }));
  const tree = validationTree(blobs);
  return conversionError(blobs) ?? (tree && treeText(tree));
}

const channel = (name: string, ...entries: string[]): string =>
  `---\nschema: olm.channel\npackage: foo\nname: ${name}\nentries: [${entries.join(', ')}]\n`;
const bundle = (version: string, image = 'a/b:c'): string =>
  `---\nschema: olm.bundle\npackage: foo\nname: foo.v${version}\nimage: "${image}"\nproperties:\n- {type: olm.package, value: {packageName: foo, version: ${version}}}\n`;
const head = 'schema: olm.package\nname: foo\ndefaultChannel: stable\n';

test('a tree has everything, siblings by name', async () => {
  const text = [
    head,
    channel('stable', '{name: foo.v1.0.0, skipRange: ab}', '{name: foo.v2.0.0}'),
    channel('alpha', '{name: foo.v1.0.0, skips: [""]}'),
    bundle('1.0.0'),
    bundle('2.0.0', ''),
  ].join('');
  expect(await said(text)).toBe(`invalid index:
└── invalid package "foo":
    ├── invalid channel "alpha":
    │   └── invalid bundle "foo.v1.0.0":
    │       └── skip[0] is empty
    └── invalid channel "stable":
        ├── multiple channel heads found in graph: foo.v1.0.0, foo.v2.0.0
        ├── invalid bundle "foo.v1.0.0":
        │   └── invalid skipRange "ab": Could not get version from string: "ab"
        └── invalid bundle "foo.v2.0.0":
            └── bundle image must be set`);
});

test.each([
  ['schema: olm.package\nname: A.b\n', /^invalid package name "A\.b": \[a lowercase RFC 1123 label must/],
  ['schema: olm.package\nname: a.b\n', /^invalid package name "a\.b": \[must not contain dots\]$/],
  [channel('stable'), /^unknown package "foo" for channel "stable"$/],
  [head + bundle('1.0.0'), /^package "foo", bundle "foo\.v1\.0\.0" not found in any channel entries$/],
  [
    head + channel('stable', '{name: x}'),
    /^no olm\.bundle blobs found in package "foo" for olm\.channel entries \[x\]$/,
  ],
  [
    head + bundle('1.0.0', 'A/b'),
    /^package "foo" bundle "foo\.v1\.0\.0" image: invalid image pull spec "A\/b": /,
  ],
  [head, /── invalid channel "stable":\n {8}└── channel must contain at least one bundle$/],
])('%j', async (text, words) => expect(await said(text)).toMatch(words));

test('nothing is said of a sound catalog', async () => {
  expect(await said(head + channel('stable', '{name: foo.v1.0.0}') + bundle('1.0.0'))).toBeUndefined();
});
