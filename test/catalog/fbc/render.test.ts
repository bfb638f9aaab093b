import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { renderJson, renderOrder } from '../../../catalog/fbc/render.ts';
import { compactJson, indentedJson, jsonString } from '../../../catalog/go/json-text.ts';
import { sourceOf } from '../../../catalog/source.ts';

describe('JSON text', () => {
  test('differs from JSON.stringify only where Go does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON.stringify loses the sign of zero, which Go keeps.
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(JSON.stringify(JSON.parse(compactJson(value))))).toEqual(plain);
        expect(JSON.parse(JSON.stringify(JSON.parse(indentedJson(value))))).toEqual(plain);
      }),
    );
    expect(jsonString('<&>\u2028\u2029\u007f\b\u0001')).toBe('"<&>\\u2028\\u2029\u007f\\b\\u0001"');
    expect(compactJson([-0, 1e21, 1e-7, 0.1])).toBe('[-0,1e+21,1e-7,0.1]');
  });

  test('sorts keys by their bytes in UTF-8, numbers and emoji included', () => {
    expect(compactJson({ b: 1, '10': 2, '9': 3, '\uffff': 4, '😀': 5, B: 6 })).toBe(
      '{"10":2,"9":3,"B":6,"b":1,"\uffff":4,"😀":5}',
    );
  });
});

describe('rendering', () => {
  test('orders packages, and in each its channels and bundles by name, then other blobs by schema', async () => {
    const text = [
      'schema: z/root',
      'schema: olm.bundle\npackage: b\nname: b.v2',
      'schema: olm.bundle\npackage: b\nname: b.v1',
      'schema: y/other\npackage: b',
      'schema: x/other\npackage: b',
      'schema: olm.deprecations\npackage: b\nentries: []',
      'schema: olm.channel\npackage: b\nname: stable',
      'schema: olm.channel\npackage: b\nname: alpha',
      'schema: olm.package\nname: b',
      'schema: olm.package\nname: a',
      'schema: olm.bundle\nname: lost',
    ].join('\n---\n');
    const { blobs } = await load(sourceOf({ 'c.yaml': text }));
    expect(renderOrder(blobs).map(({ schema, name }) => `${schema} ${name}`.trim())).toEqual([
      'olm.package a',
      'olm.package b',
      'olm.channel alpha',
      'olm.channel stable',
      'olm.bundle b.v1',
      'olm.bundle b.v2',
      'x/other',
      'y/other',
      'olm.deprecations',
      'z/root',
    ]);
  });

  test("writes a bundle's fields in opm's order, without unknown ones, manifests last, images sorted", async () => {
    const text = `schema: olm.bundle
unknown: dropped
relatedImages:
- {image: quay.io/z, name: z, extra: dropped}
- {image: quay.io/a, name: ""}
properties:
- {type: olm.bundle.object, value: {data: e30=}}
- {type: olm.package, value: {version: 1.0.0, packageName: a}}
- {type: example.com/x}
package: a
name: a.v1
`;
    expect(await rendered(text)).toBe(`{
    "schema": "olm.bundle",
    "name": "a.v1",
    "package": "a",
    "image": "",
    "properties": [
        {
            "type": "olm.package",
            "value": {
                "packageName": "a",
                "version": "1.0.0"
            }
        },
        {
            "type": "example.com/x",
            "value": null
        },
        {
            "type": "olm.bundle.object",
            "value": {
                "data": "e30="
            }
        }
    ],
    "relatedImages": [
        {
            "name": "",
            "image": "quay.io/a"
        },
        {
            "name": "z",
            "image": "quay.io/z"
        }
    ]
}
`);
  });

  test('tells missing entries from empty ones', async () => {
    expect(await rendered('schema: olm.channel\npackage: a\nname: c\n')).toContain('"entries": null');
    expect(await rendered('schema: olm.channel\npackage: a\nname: c\nentries: []\n')).toContain(
      '"entries": []',
    );
  });

  test('writes blobs of other schemas whole, keys sorted', async () => {
    const json = await rendered('schema: example.com/x\nb: 1\na: {z: [], w: {}}\n');
    expect(json).toBe(
      '{\n    "a": {\n        "w": {},\n        "z": []\n    },\n    "b": 1,\n    "schema": "example.com/x"\n}\n',
    );
  });
});

async function rendered(text: string): Promise<string> {
  const { blobs } = await load(sourceOf({ 'c.yaml': text }));
  return renderOrder(blobs).map(renderJson).join('');
}
