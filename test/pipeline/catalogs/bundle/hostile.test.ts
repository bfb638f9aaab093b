/** Bundles that were made to break whoever reads them: a finding or one clear error, soon. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inspectedBundle } from '../../../../catalog/bundle/inspect.ts';
import { readCrd } from '../../../../catalog/crd/crd.ts';
import { unsafeChanges } from '../../../../catalog/crd/safety.ts';
import type { Finding } from '../../../../catalog/finding.ts';
import { RULES } from '../../../../catalog/rules/index.ts';
import { runInspection } from '../../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { digestOf } from '../../../../pipeline/oci/digest.ts';
import { OCI_MANIFEST } from '../../../../pipeline/oci/media-types.ts';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { type ImageContent, pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { bundleFiles } from '../../../fakes/bundle-fixture.ts';
import { folder } from '../../../fakes/folder.ts';
import * as image from '../../../fakes/image.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

const FILES = bundleFiles(new Map());
const CSV = FILES.get('manifests/csv.yaml') ?? '';

async function found(files: Readonly<Record<string, string>>): Promise<Finding[]> {
  const source = sourceOf({ ...Object.fromEntries(FILES), ...files });
  return runInspection(await inspectedBundle(source), RULES);
}

describe('what makes the real tools panic or go on for ever', () => {
  test.each([
    ['no ClusterServiceVersion', { 'manifests/csv.yaml': 'kind: Service\n' }, 'manifest/csv-missing'],
    [
      'an empty list of icons',
      { 'manifests/csv.yaml': CSV.replace(/icon:[\s\S]*?(?=\n {2}\w)/, 'icon: []') },
      'csv/icon-missing',
    ],
    ['infinity', { 'manifests/x.yaml': 'kind: ConfigMap\ndata: {a: .inf}\n' }, 'manifest/unreadable'],
    ['a file of nothing', { 'manifests/x.yaml': '' }, 'manifest/unreadable'],
    ['bytes that are no text', { 'manifests/x.yaml': '\u0000\u0001\uffff' }, 'manifest/unreadable'],
    ['deep nesting', { 'manifests/x.yaml': `a: ${'['.repeat(100_000)}` }, 'manifest/unreadable'],
    ['deep JSON', { 'manifests/x.json': '{"a":'.repeat(100_000) }, 'manifest/unreadable'],
    ['aliases of aliases', { 'manifests/x.yaml': laughs(30) }, 'manifest/unreadable'],
    ['an alias of itself', { 'manifests/x.yaml': 'a: &a [*a]\n' }, 'manifest/unreadable'],
    [
      'very many documents',
      { 'manifests/x.yaml': '---\nkind: Service\n'.repeat(20_000) },
      'manifest/lost-document',
    ],
    [
      'examples that are no JSON',
      { 'manifests/csv.yaml': CSV.replace(/alm-examples: .*/, `alm-examples: '${'['.repeat(5000)}'`) },
      'csv/examples',
    ],
    [
      'an address of a million blanks',
      {
        'manifests/csv.yaml': CSV.replace(
          /maintainers:[\s\S]*?(?=\n {2}\w)/,
          `maintainers: [{name: a, email: "${' '.repeat(1_000_000)}x"}]`,
        ),
      },
      'csv/maintainer',
    ],
    [
      'a ClusterServiceVersion that is null',
      { 'manifests/csv.yaml': 'kind: ClusterServiceVersion\nmetadata: null\nspec: null\n' },
      'csv/required-field',
    ],
  ])('%s', async (_, files, rule) => {
    const findings = await found(files as Readonly<Record<string, string>>);
    expect(findings.map((finding) => finding.rule)).toContain(rule);
    for (const { location } of findings) expect(location.line).toBeGreaterThan(0);
  });

  test('definitions without schemas, and without versions that are served', () => {
    const definition = (versions: unknown[]) =>
      readCrd({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'a.b.io' },
        spec: { scope: 'Namespaced', versions },
      });
    const bare = definition([{ name: 'v1', served: true, storage: true }]);
    const unserved = definition([
      { name: 'v1', served: false, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    ]);
    if (!bare || !unserved) throw new Error('not read');
    for (const [before, after] of [
      [bare, bare],
      [bare, unserved],
      [unserved, bare],
    ] as const)
      expect(Array.isArray(unsafeChanges(before, after))).toBe(true);
  });
});

/** Each level repeats the one before it ten times. */
function laughs(levels: number): string {
  const lines = Array.from({ length: levels }, (_, i) => {
    const items = i === 0 ? 'x' : Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ');
    return `a${i}: &a${i} [${items}]`;
  });
  return `kind: ConfigMap\n${lines.join('\n')}\n`;
}

const LABELS = { 'operators.operatorframework.io.bundle.package.v1': 'etcd' };

/** The image of the sample bundle with further layers. */
function bundleImage(...layers: readonly Buffer[]): ImageContent {
  const first = Buffer.concat([...FILES].map(([path, text]) => entry(path, Buffer.from(text))));
  const tars = [Buffer.concat([first, Buffer.alloc(1024)]), ...layers];
  const packed = tars.map((tar) => gzipSync(tar, { level: 1 }));
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      config: { Labels: LABELS },
      rootfs: { type: 'layers', diff_ids: tars.map((tar) => digestOf(tar)) },
    }),
  );
  const type = 'application/vnd.oci.image.layer.v1.tar+gzip';
  const root = image.manifestOf(OCI_MANIFEST, {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: image.describe('application/vnd.oci.image.config.v1+json', config),
    layers: packed.map((bytes) => image.describe(type, bytes)),
  });
  return { root, manifests: [], blobs: [config, ...packed].map((bytes) => image.source(bytes)) };
}

/** One file of an archive that goes on. */
function entry(name: string, content: Buffer): Buffer {
  return image.tar(name, content).subarray(0, -1024);
}

async function pushed(content: ImageContent): Promise<string> {
  const work = folder();
  const layout = layoutRegistry(await openLayout(join(work, 'images'), { create: true }));
  await pushImage(layout, { kind: 'tag', registry: '', repository: '', tag: 'v1' }, { image: content });
  return work;
}

function validated(work: string): Promise<Ran> {
  return portolan(work, 'bundle', 'validate', 'oci:images:v1');
}

describe('layers of a bundle', () => {
  test('a name that leads out of the image is refused, and nothing is written there', async () => {
    for (const name of ['../../escaped', 'manifests/../../escaped']) {
      const work = await pushed(bundleImage(image.tar(name, Buffer.from('x'))));
      const { exit, err } = await validated(work);
      expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('which leads outside of it') });
      expect(readdirSync(work)).toEqual(['images']);
    }
  });

  test('whiteouts take manifests away', async () => {
    const plain = await validated(await pushed(bundleImage()));
    expect(plain.exit).toBe(0);
    const without = await validated(
      await pushed(bundleImage(image.tar('manifests/.wh.csv.yaml', Buffer.alloc(0)))),
    );
    expect(without.out).toContain('(manifest/csv-missing)');
    const opaque = await validated(
      await pushed(bundleImage(image.tar('manifests/.wh..wh..opq', Buffer.alloc(0)))),
    );
    expect(opaque.out).toContain('(manifest/folders)');
  });

  test('links that lead out of the image are no files of it', async () => {
    const header = image.tar('manifests/passwd.yaml', Buffer.alloc(0));
    header.write('2', 156);
    header.write('/etc/passwd', 157);
    header.write('        ', 148);
    const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\x00 `, 148);
    const { out } = await validated(await pushed(bundleImage(header)));
    expect(out).toContain('manifests/passwd.yaml: error: a link to "/etc/passwd"');
  });

  test('a layer that lies about its digest', async () => {
    const content = bundleImage();
    const work = await pushed(content);
    const layer = content.blobs[1]?.digest.slice('sha256:'.length) ?? '';
    const path = join(work, 'images/blobs/sha256', layer);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const { exit, err } = await validated(work);
    expect(exit).toBe(2);
    expect(err).toMatch(/digest|corrupt|sha256/);
  });

  test('two gigabytes, said by the manifest or only found when they are unpacked', async () => {
    const content = bundleImage();
    const manifest = JSON.parse(new TextDecoder().decode(content.root.bytes));
    manifest.layers[0].size = 2 * 2 ** 30;
    const work = await pushed(content);
    const { digest, bytes } = image.manifestOf(OCI_MANIFEST, manifest);
    writeFileSync(join(work, 'images/blobs/sha256', digest.slice('sha256:'.length)), bytes);
    const index = join(work, 'images/index.json');
    const listed = JSON.parse(readFileSync(index, 'utf8'));
    Object.assign(listed.manifests[0], { digest, size: bytes.length });
    writeFileSync(index, JSON.stringify(listed));
    expect((await validated(work)).err).toContain('the layers of the bundle have 2147483648 bytes');
  });
});
