/** A bundle in a registry, whose deployment names an image that only a variable has. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { testClient } from './host.ts';
import { labelledImage } from './labelled-image.ts';
import { registry, type TestRegistry } from './registry.ts';

const FILES = ['manifests/crd.yaml', 'manifests/csv.yaml', 'metadata/annotations.yaml'];
const LABELS = {
  'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
  'operators.operatorframework.io.bundle.package.v1': 'sample',
  'operators.operatorframework.io.bundle.manifests.v1': 'manifests/',
  'operators.operatorframework.io.bundle.metadata.v1': 'metadata/',
};

export interface ServedBundle {
  readonly host: TestRegistry;
  readonly image: string;
  /** A catalog with the bundle, which leaves its deployments out. */
  readonly catalog: string;
}

/** Serves the sample bundle. @param variable what its deployment names besides; may ask for the host */
export async function servedBundle(variable: string | ((host: string) => string)): Promise<ServedBundle> {
  const host = await registry();
  const files = Object.fromEntries(
    FILES.map((path) => [path, readFileSync(`test/catalogs/bundle/${path}`, 'utf8')]),
  );
  const csv = files['manifests/csv.yaml'] ?? '';
  const value = typeof variable === 'string' ? variable : variable(host.host);
  const named = csv.replace(
    /( +)image: (\S+)\n/,
    (line, indent) => `${line}${indent}env: [{name: RELATED_IMAGE_AGENT, value: '${value}'}]\n`,
  );
  expect(named).not.toBe(csv);
  const content = await labelledImage(LABELS, { ...files, 'manifests/csv.yaml': named });
  const tag = parseReference(`${host.host}/org/bundle:v1`);
  await pushImage(testClient([host.host]), tag, { image: content });
  host.seen.length = 0;
  const image = `${host.host}/org/bundle@${content.root.digest}`;
  return { host, image, catalog: catalogOf(image) };
}

function catalogOf(image: string): string {
  const properties = [
    { type: 'olm.package', value: { packageName: 'sample', version: '1.0.0' } },
    { type: 'olm.csv.metadata', value: { displayName: 'Sample' } },
  ];
  return [
    { schema: 'olm.package', name: 'sample', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'sample', name: 'stable', entries: [{ name: 'sample.v1.0.0' }] },
    { schema: 'olm.bundle', name: 'sample.v1.0.0', package: 'sample', image, properties },
  ]
    .map((blob) => JSON.stringify(blob))
    .join('\n');
}
