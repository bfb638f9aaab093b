/** An image that only an environment variable of the operator names: the plan mirrors it, and without it nothing is ready. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath } from '../fakes/tools.ts';

const IMAGES = { bundle: ['bundle'], operator: ['operator'], operand: ['operand'] };

function csv(operator: string, operand: string): string {
  const manager = {
    name: 'manager',
    image: operator,
    env: [{ name: 'RELATED_IMAGE_OPERAND', value: operand }],
  };
  const deployments = [{ name: 'manager', spec: { template: { spec: { containers: [manager] } } } }];
  const manifest = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: 'p.v1.0.0' },
    spec: { install: { strategy: 'deployment', spec: { deployments } } },
  };
  return Buffer.from(JSON.stringify(manifest)).toString('base64');
}

describe.skipIf(!isOnPath('docker-registry'))('an image that relatedImages does not list', () => {
  test('is in the plan; the bundle is ready only when the mirror has it', async () => {
    const directory = folder();
    const [source, mirror] = [await dockerRegistry(), await dockerRegistry()];
    const client = testClient([source.host, mirror.host]);
    const at: Record<string, string> = {};
    for (const [name, layers] of Object.entries(IMAGES)) {
      const image = sampleImage({ layers });
      await pushImage(client, parseReference(`${source.host}/org/${name}:v1`), { image });
      at[name] = `${source.host}/org/${name}@${image.root.digest}`;
    }
    mkdirSync(join(directory, 'catalog'));
    writeFileSync(
      join(directory, 'catalog/catalog.yaml'),
      [
        '---\nschema: olm.package\nname: p\ndefaultChannel: stable\n',
        '---\nschema: olm.channel\nname: stable\npackage: p\nentries: [{name: p.v1.0.0}]\n',
        `---\nschema: olm.bundle\nname: p.v1.0.0\npackage: p\nimage: ${at['bundle']}\n`,
        'properties:\n- {type: olm.package, value: {packageName: p, version: 1.0.0}}\n',
        `- {type: olm.bundle.object, value: {data: ${csv(at['operator'] ?? '', at['operand'] ?? '')}}}\n`,
        `relatedImages: [{name: operator, image: '${at['operator']}'}]\n`,
      ].join(''),
    );
    const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure', host]);
    const run = (...words: string[]) => portolan(directory, 'mirror', ...words);
    const index = `${source.host}/org/operator:v1`;
    expect(await run('plan', 'catalog', '--as', index, '--to', `${mirror.host}/m`)).toMatchObject({
      exit: 0,
    });
    const mapping = readFileSync(join(directory, 'mirror/mapping.txt'), 'utf8');
    expect(mapping).toContain(`${at['operand']}=`);

    // As a plan from relatedImages alone would have it.
    const listed = mapping.split('\n').filter((line) => !line.startsWith(`${at['operand']}=`));
    writeFileSync(join(directory, 'listed.txt'), listed.join('\n'));
    expect(await run('copy', 'listed.txt', ...hosts)).toMatchObject({ exit: 0 });
    const verify = () => run('verify', 'catalog', '--documents', 'mirror', '--online', ...hosts);
    const without = await verify();
    expect(without.exit).toBe(1);
    expect(without.out).toContain('Ready for disconnected clusters: 0 of 1 bundle');
    expect(without.out).toContain('/operand');

    expect(await run('copy', 'mirror/mapping.txt', ...hosts)).toMatchObject({ exit: 0 });
    expect(await verify()).toMatchObject({
      exit: 0,
      out: 'Ready for disconnected clusters: 1 of 1 bundle\n',
    });
  });
});
