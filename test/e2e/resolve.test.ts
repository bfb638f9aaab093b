/** Digests as we resolve them, beside those that skopeo finds at the same registries. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { folder } from '../fakes/folder.ts';
import { sampleImage } from '../fakes/image.ts';
import { craneRegistry, dockerRegistry, guardedRegistry } from '../fakes/real-registry.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath, run } from '../fakes/tools.ts';

const IMAGES = {
  'org/list:v1': sampleImage({ architectures: ['amd64', 'arm64'] }),
  'org/single:v1.0': sampleImage({ layers: ['single'] }),
  'org/docker:latest': sampleImage({
    architectures: ['amd64', 's390x'],
    layers: ['docker'],
    format: 'docker',
  }),
};

describe.each([
  ['docker-registry', ['docker-registry'], dockerRegistry],
  ['docker-registry with htpasswd and TLS', ['docker-registry', 'htpasswd'], guardedRegistry],
  ['the registry of go-containerregistry', ['registry'], craneRegistry],
] as const)('%s', (_, needed, begin) => {
  const missing = [...needed, 'skopeo'].filter((program) => !isOnPath(program));

  test.skipIf(missing.length > 0)(
    `tags are pinned to what skopeo finds${missing.length > 0 ? ` (needs ${missing})` : ''}`,
    async () => {
      const { host, client, skopeo, options } = await begin();
      const names = Object.keys(IMAGES);
      for (const [name, image] of Object.entries(IMAGES)) {
        await pushImage(client, parseReference(`${host}/${name}`), { image });
      }
      const root = folder();
      mkdirSync(join(root, 'a'));
      const related = names.map((name) => `- {name: x, image: '${host}/${name}'}\n`).join('');
      const text = `schema: olm.bundle\npackage: a\nname: a.v1\nimage: ${host}/org/list:v1\nrelatedImages:\n${related}`;
      writeFileSync(join(root, 'a', 'catalog.yaml'), text);
      const ran = await portolan(root, 'resolve', '.', '--write', ...options);
      expect(ran).toMatchObject({ exit: 0, out: '' });
      const pinned = readFileSync(join(root, 'a', 'catalog.yaml'), 'utf8');
      for (const name of names) {
        const raw = await run('skopeo', 'inspect', '--raw', ...skopeo, `docker://${host}/${name}`);
        expect(pinned).toContain(`${host}/${name.replace(/:.*/, '')}@${digestOf(raw)}`);
      }
      const absent = text.replace('org/list:v1', 'org/list:v2');
      writeFileSync(join(root, 'a', 'catalog.yaml'), absent);
      const again = await portolan(root, 'resolve', '.', '--write', ...options);
      expect(again.exit).toBe(1);
      expect(again.out).toContain('a/catalog.yaml:4:8: error:');
    },
  );
});
