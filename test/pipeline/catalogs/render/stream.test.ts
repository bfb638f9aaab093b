import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinedBlobs } from '../../../../catalog/fbc/model.ts';
import { type RenderFormat, renderOrder } from '../../../../catalog/fbc/render.ts';
import type { Finding } from '../../../../catalog/finding.ts';
import { renderReference } from '../../../../pipeline/catalogs/render/reference.ts';
import { streamReferences } from '../../../../pipeline/catalogs/render/stream.ts';
import { textOf } from '../../../../pipeline/catalogs/write-blobs.ts';
import { folder } from '../../../fakes/folder.ts';

/** One package in two files, what has no package, and a bundle whose manifests are to give way. */
const SCATTERED = {
  'z.yaml': `schema: olm.channel
package: b
name: z
entries: [{name: b.v1}]
---
schema: olm.package
name: a
---
schema: example.com/note
text: of no package
---
schema: olm.bundle
name: b.v1
package: b
image: example.com/b@sha256:${'0'.repeat(64)}
properties:
- type: olm.bundle.object
  value: {data: ${btoa('{"kind":"ClusterServiceVersion","metadata":{"name":"b.v1"},"spec":{"displayName":"B"}}')}}
`,
  'a.json': '{"schema":"olm.package","name":"b","defaultChannel":"z"}\n',
};

for (const format of ['json', 'yaml'] as const)
  for (const migrates of [false, true])
    test(`the bytes of all blobs together, as ${format}${migrates ? ', migrated' : ''}`, async () => {
      const root = folder();
      cpSync('test/catalogs/sample/catalogs/v4.20', join(root, 'sample'), { recursive: true });
      for (const [name, text] of Object.entries(SCATTERED)) writeFileSync(join(root, name), text);
      const rendering = { directory: root, registry: noRegistry, migrates };
      const { out, done } = await streamed(['.', 'sample'], { format, rendering });
      const whole = await Promise.all(['.', 'sample'].map((one) => renderReference(one, rendering)));
      expect(done).toBe(true);
      expect(out).toBe(textOf(renderOrder(joinedBlobs(whole.map(({ blobs }) => blobs))), format));
      expect(out.includes('olm.bundle.object')).toBe(!migrates);
    });

test('nothing is written when a later reference cannot be read', async () => {
  const root = folder();
  writeFileSync(join(root, 'catalog.yaml'), SCATTERED['z.yaml']);
  const broken = folder();
  writeFileSync(join(broken, 'catalog.yaml'), 'schema: [\n');
  const rendering = { directory: root, registry: noRegistry };
  const { out, done, said } = await streamed(['.', broken], { format: 'json', rendering });
  expect({ out, done }).toEqual({ out: '', done: false });
  expect(said.map(({ rule }) => rule)).toContain('fbc/yaml');
});

async function streamed(
  references: readonly string[],
  how: { readonly format: RenderFormat; readonly rendering: Parameters<typeof renderReference>[1] },
): Promise<{ out: string; done: boolean; said: readonly Finding[] }> {
  const decoder = new TextDecoder();
  const said: Finding[] = [];
  let out = '';
  const done = await streamReferences({
    references,
    ...how,
    refuses: (findings) => {
      said.push(...findings);
      return findings.some(({ severity }) => severity === 'error');
    },
    out: async (bytes) => {
      out += decoder.decode(bytes, { stream: true });
    },
  });
  return { out, done, said };
}

function noRegistry(): never {
  throw new Error('registries are not contacted');
}
