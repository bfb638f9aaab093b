import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CatalogSource, sourceOf } from '../../../../catalog/source.ts';
import { serveCatalog } from '../../../../pipeline/catalogs/serve/serve.ts';
import { directorySource } from '../../../../pipeline/directory.ts';

const http = { host: '127.0.0.1', port: 0 };

async function etagOf(source: CatalogSource): Promise<string | null> {
  const serving = await serveCatalog({ source, name: 'c', http, now: new Date(0) });
  if (serving.kind !== 'serving') throw new Error('refused');
  const { headers } = await fetch(`http://127.0.0.1:${serving.http}/catalogs/c/api/v1/all`);
  await serving.close();
  return headers.get('etag');
}

function catalog(description: string): string {
  return `schema: olm.package\nname: a\ndefaultChannel: s\ndescription: ${description}
---
schema: olm.channel\npackage: a\nname: s\nentries:\n- name: a.v1
---
schema: olm.bundle\npackage: a\nname: a.v1\nimage: example.com/a:v1
properties:\n- type: olm.package\n  value: {packageName: a, version: 1.0.0}\n`;
}

test('catalogs of folders have one ETag only if they are equal, however they are read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const etags = [];
  for (const text of ['one', 'two', 'größer', 'one'].map(catalog)) {
    writeFileSync(join(folder, 'catalog.yaml'), text);
    etags.push(await etagOf(directorySource(folder)));
    expect(etags.at(-1)).toBe(await etagOf(sourceOf({ 'catalog.yaml': text })));
  }
  expect(new Set(etags).size).toBe(3);
  expect(etags[3]).toBe(etags[0]);
});
