/** The built program syncs between registries that others wrote: killed at ten points, then run to its end. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { sourceOf } from '../../catalog/source.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../pipeline/oci/image/build.ts';
import { pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import { countedLine, killedAt } from '../fakes/counted-line.ts';
import { folder } from '../fakes/folder.ts';
import { bytesOf, noise, sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const BUNDLES = 30;
const KILLS = 10;

beforeAll(buildProgram);

test.skipIf(!isOnPath('docker-registry'))(
  'killed ten times: the last run completes the mirror, and the manifests come with it',
  async () => {
    const [from, to] = [await dockerRegistry(), await dockerRegistry()];
    const versions = Array.from({ length: BUNDLES }, (_, i) => `1.0.${i}`);
    const texts = [
      '---\nschema: olm.package\nname: a\ndefaultChannel: stable\n',
      `---\nschema: olm.channel\nname: stable\npackage: a\nentries: [${versions
        .map((version, i) => `{name: a.v${version}${i > 0 ? `, replaces: a.v1.0.${i - 1}` : ''}}`)
        .join(', ')}]\n`,
    ];
    for (const [i, version] of versions.entries()) {
      const image = sampleImage({ architectures: ['amd64', 'arm64'], layers: [noise(100_000, version)] });
      await pushImage(from.client, parseReference(`${from.host}/org/bundle:v${version}`), { image });
      texts.push(
        `---\nschema: olm.bundle\nname: a.v${version}\npackage: a\nimage: ${from.host}/org/bundle:v${version}\n`,
        `properties: [{type: olm.package, value: {packageName: a, version: 1.0.${i}}}]\n`,
      );
    }
    const catalog = sourceOf({ 'catalog.yaml': texts.join('') });
    const { built } = await buildCatalogImage(catalog, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
    if (!built) throw new Error('nothing was built');
    const { manifestList: root, manifests, blobs } = built.image;
    const index = parseReference(`${from.host}/org/index:v1`);
    await pushImage(from.client, index, { image: { root, manifests, blobs } });
    const directory = folder();
    const config = join(directory, 'isc.yaml');
    writeFileSync(
      config,
      `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n  - catalog: ${from.host}/org/index:v1\n    packages: [{name: a, minVersion: 1.0.0}]\n`,
    );
    const line = await countedLine(to.host);
    onTestFinished(line.stop);
    const out = join(directory, 'mirror');
    const hosts = [from.host, line.host].flatMap((host) => ['--insecure', host]);
    const parameters = [resolve('dist/portolan.mjs'), 'mirror', 'sync', config];
    parameters.push('--to', `${line.host}/m`, '--out', out, ...hosts);
    let kills = 0;
    for (let i = 1; i <= KILLS; i++) {
      const limit = line.bytes() + (BUNDLES * 100_000) / (KILLS * 2);
      if ((await killedAt(parameters, line, limit)) === null) kills++;
      // What clusters apply does not name what is not there yet.
      expect(existsSync(join(out, 'catalogSource.yaml'))).toBe(false);
    }
    expect(kills).toBe(KILLS);
    expect(await killedAt(parameters, line, Infinity)).toBe(0);
    const lines = readFileSync(join(out, 'mapping.txt'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(BUNDLES + 1);
    for (const one of lines) {
      const destination = (one.split('=')[1] ?? '').replace(line.host, to.host);
      const read = await readImage(to.client, parseReference(destination));
      for (const blob of read.blobs) expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);
    }
    expect(readFileSync(join(out, 'catalogSource.yaml'), 'utf8')).toContain(`image: ${line.host}/m/`);
    expect(existsSync(join(out, 'mapping.txt.state'))).toBe(false);
  },
  600_000,
);
