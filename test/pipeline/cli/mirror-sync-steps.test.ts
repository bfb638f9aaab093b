import { expect, test } from 'vitest';
import { invocationOf } from '../../../pipeline/cli/command.ts';
import { command } from '../../../pipeline/cli/mirror/plan/plan.ts';
import { namingOptions } from '../../../pipeline/cli/mirror/plan/plan-options.ts';
import { pruneSuperseded } from '../../../pipeline/cli/mirror/sync/steps.ts';
import { openLayout } from '../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { sampleImage } from '../../fakes/image.ts';
import { portolan } from '../../fakes/terminal.ts';

test('what is no longer needed is deleted, but not what somebody else has pushed under its name since', async () => {
  const client = layoutRegistry(await openLayout(folder(), { create: true }));
  const at = (tag: string) =>
    ({ kind: 'tag', registry: 'mirror.example.com', repository: 'olm/app', tag }) as const;
  const [ours, theirs] = [sampleImage({ layers: ['ours'] }), sampleImage({ layers: ['theirs'] })];
  await pushImage(client, at('v1'), { image: ours });
  await pushImage(client, at('v2'), { image: theirs });
  const history = ['v1', 'v2', 'v3'].map((tag) => ({
    source: `quay.io/acme/app@${ours.root.digest}`,
    destination: `mirror.example.com/olm/app:${tag}`,
  }));
  const options = { client, folder: folder() };
  const alone = { others: async () => [], identity: { id: '', name: '', isNamed: false }, nameOf: () => '' };
  const told = await pruneSuperseded(history, [], { ...options, records: undefined });
  expect(told).toMatchObject({ superseded: history.map(({ destination }) => destination), foreign: [] });
  expect(await client.resolve(at('v1'))).toBeDefined();
  expect(await pruneSuperseded(history, [], { ...options, records: alone })).toMatchObject({
    deleted: ['mirror.example.com/olm/app:v1', 'mirror.example.com/olm/app:v3'],
    failed: [],
    foreign: ['mirror.example.com/olm/app:v2'],
  });
  expect(await client.resolve(at('v1'))).toBeUndefined();
  expect(await client.resolve(at('v2'))).toMatchObject({ digest: theirs.root.digest });
});

test('a signature of what a mirror has is refused where CONFIG has no catalog to sign for', async () => {
  const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n';
  const directory = folder({
    'isc.yaml': `${head}mirror:\n  additionalImages: [{name: "quay.io/acme/a:1"}]\n`,
  });
  const words = ['mirror', 'sync', 'isc.yaml', '--to', 'mirror.example.com/olm', '--sign-key', 'mirror.key'];
  expect(await portolan(directory, ...words)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('--sign-key needs a catalog in CONFIG'),
  });
});

test('names in the mirror and scopes of entries are as the options say', () => {
  const naming = (...words: string[]) =>
    namingOptions(command, invocationOf(command, ['catalog', '--to', 'mirror.example.com', ...words]));
  expect(naming('--max-components', '2', '--icsp-scope', 'registry')).toMatchObject({
    maxComponents: 2,
    scope: undefined,
    policyScope: 'registry',
  });
  expect(naming('--idms-scope', 'namespace')).toMatchObject({ scope: 'namespace', policyScope: undefined });
  expect(naming('--scope', 'registry')).toMatchObject({ scope: 'registry', policyScope: undefined });
});
