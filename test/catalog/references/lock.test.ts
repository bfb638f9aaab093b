import { describe, expect, test } from 'vitest';
import {
  formatLock,
  InvalidLock,
  type Pin,
  pinReferences,
  readLock,
} from '../../../catalog/references/lock.ts';
import { referenceSites } from '../../../catalog/references/site.ts';
import { sourceOf } from '../../../catalog/source.ts';

const A = `sha256:${'a'.repeat(64)}`;
const HEAD = '"apiVersion": "portolan/v1alpha1", "kind": "ReferenceLock"';

test('a lock is read as it was written, a tag a line, in byte order', () => {
  const lock = {
    digests: new Map(
      [
        ['quay.io/b:v1', A],
        ['quay.io/B2/a:v1', A],
      ].map(([k = '', v = '']) => [k.toLowerCase(), v]),
    ),
  };
  const text = formatLock(lock);
  expect(text.split('\n').filter((line) => line.includes('sha256'))).toEqual([
    `    "quay.io/b2/a:v1": "${A}",`.replace('b2', 'b2'),
    `    "quay.io/b:v1": "${A}"`,
  ]);
  expect(new Map(readLock(text).digests)).toEqual(new Map([...lock.digests].sort()));
});

test.each([
  ['', 'it is not valid JSON'],
  ['[]', 'it must be an object with apiVersion'],
  [`{${HEAD}}`, 'references must be an object'],
  [`{${HEAD}, "references": {"quay.io/a:v1": 1}}`, 'references["quay.io/a:v1"] has no digest'],
  [
    `{${HEAD}, "references": {"quay.io/a:v1": "sha256:0"}}`,
    'references["quay.io/a:v1"]: invalid checksum digest length',
  ],
  [`{${HEAD}, "references": {"quay.io/a@${A}": "${A}"}}`, 'is not a valid tag'],
  [
    `{${HEAD}, "references": {"Quay.io/A:v1": "${A}"}}`,
    'references["Quay.io/A:v1"]: invalid reference format',
  ],
])('%s is no lock', (text, message) => {
  expect(() => readLock(text)).toThrow(InvalidLock);
  expect(() => readLock(text)).toThrow(message);
});

describe('pin', () => {
  /** Pins every tag of a file at the places where the loader found it. */
  async function pinned(text: string, file = 'a.yaml'): Promise<{ text: string; refused: readonly Pin[] }> {
    const { sites, findings } = await referenceSites(sourceOf({ [file]: text }));
    expect(findings).toEqual([]);
    const pins = sites.flatMap(({ reference, written, location: { line, column } }) =>
      reference.kind === 'tag'
        ? [
            {
              line,
              column,
              written,
              pinned: `${written.replace(/:[^:/]*$/, '')}@sha256:1`,
              note: reference.tag,
            },
          ]
        : [],
    );
    return pinReferences(text, pins);
  }

  const HEAD = 'schema: olm.bundle\nname: b\npackage: p\n';

  describe('only the reference changes, wherever it stands', () => {
    test.each([
      ['plain', 'image: q.io/a/b:v1\nx: 1\n', 'image: q.io/a/b@sha256:1 # v1\nx: 1\n'],
      ['a comment of somebody', 'image: q.io/a/b:v1  # keep\n', 'image: q.io/a/b@sha256:1 # v1  # keep\n'],
      ['single quotes', "image:   'q.io/a/b:v1'\n", "image:   'q.io/a/b@sha256:1' # v1\n"],
      ['double quotes', 'image: "q.io/a/b:v1" \n', 'image: "q.io/a/b@sha256:1" # v1 \n'],
      ['line ends of Windows', 'image: q.io/a/b:v1\r\nx: 1\r\n', 'image: q.io/a/b@sha256:1 # v1\r\nx: 1\r\n'],
      ['no line end', 'image: q.io/a/b:v1', 'image: q.io/a/b@sha256:1 # v1'],
      [
        'a list',
        'relatedImages:\n- image: q.io/a/b:v1\n  name: x\n-   name: z\n    image: q.io/a/c:v2\n',
        'relatedImages:\n- image: q.io/a/b@sha256:1 # v1\n  name: x\n-   name: z\n    image: q.io/a/c@sha256:1 # v2\n',
      ],
      [
        'flow style',
        'relatedImages: [{name: x, image: q.io/a/b:v1}, {image: "q.io/a/c:v2", name: z}]\n',
        'relatedImages: [{name: x, image: q.io/a/b@sha256:1}, {image: "q.io/a/c@sha256:1", name: z}]\n',
      ],
      [
        'flow style over lines',
        'relatedImages: [\n  {name: x, image: q.io/a/b:v1},\n  {name: z, image: q.io/a/c:v2}]\n',
        'relatedImages: [\n  {name: x, image: q.io/a/b@sha256:1}, # v1\n  {name: z, image: q.io/a/c@sha256:1}] # v2\n',
      ],
      ['an anchor', 'image: &i q.io/a/b:v1\nother: *i\n', 'image: &i q.io/a/b@sha256:1 # v1\nother: *i\n'],
      [
        'an anchor that is used again',
        'image: &i q.io/a/b:v1\nrelatedImages: [{name: x, image: *i }]\n',
        'image: &i q.io/a/b@sha256:1 # v1\nrelatedImages: [{name: x, image: *i }]\n',
      ],
      [
        'a second document',
        'image: q.io/a/b:v1\n---\nschema: x\nimage: q.io/a/c:v1 #\n',
        'image: q.io/a/b@sha256:1 # v1\n---\nschema: x\nimage: q.io/a/c@sha256:1 # v1 #\n',
      ],
      ['a digest', 'image: q.io/a/b@sha256:2\n', 'image: q.io/a/b@sha256:2\n'],
      [
        'a registry with a port',
        'image: localhost:5000/a/b:v1\n',
        'image: localhost:5000/a/b@sha256:1 # v1\n',
      ],
      [
        'text beyond the plane',
        'relatedImages: [{name: "😀", image: q.io/a/b:v1}]\n',
        'relatedImages: [{name: "😀", image: q.io/a/b@sha256:1}] # v1\n',
      ],
    ])('%s', async (_, before, after) => {
      expect(await pinned(HEAD + before)).toEqual({ text: HEAD + after, refused: [] });
    });

    test('blanks and anchors of a long line are looked through once', async () => {
      const [blanks, ands] = [' '.repeat(300_000), '&'.repeat(300_000)];
      const text = (image: string) => `relatedImages: [{name: x${ands}, image: ${image}${blanks}}]\n`;
      const { text: after } = await pinned(HEAD + text('q.io/a/b:v1'));
      expect(after).toBe(HEAD + text('q.io/a/b@sha256:1').replace(']\n', '] # v1\n'));
    });

    test('JSON has no comments', async () => {
      const before =
        '{\n  "schema": "olm.bundle",\n  "name": "b",\n  "package": "p",\n  "image": "q.io/a/b:v1"\n}\n';
      expect((await pinned(before, 'a.json')).text).toBe(before.replace('b:v1', 'b@sha256:1'));
      expect((await pinned(before, 'a.yaml')).text).toBe(before.replace('b:v1', 'b@sha256:1'));
    });
  });

  test.each([
    ['a folded scalar', 'image: >-\n  q.io/a/b:v1\n'],
    ['escapes', 'image: "q.io/a/b\\x3av1"\n'],
  ])('%s is left alone, and said', async (_, text) => {
    const { text: after, refused } = await pinned(HEAD + text);
    expect(after).toBe(HEAD + text);
    expect(refused.map(({ written }) => written)).toEqual(['q.io/a/b:v1']);
  });
});
