/** What counts as published, by an index image that was published before, in a registry that others wrote. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../fakes/gate.ts';
import { craneRegistry, dockerRegistry, guardedRegistry } from '../fakes/real-registry.ts';
import { makeRepository } from '../fakes/repository.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath } from '../fakes/tools.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

function etcd(images: Readonly<Record<string, string>>): string {
  const versions = Object.keys(images);
  const entries = versions.map((version, i) => ({
    name: `etcd.v${version}`,
    ...(i === 0 ? {} : { replaces: `etcd.v${versions[i - 1]}` }),
  }));
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries },
    ...versions.map((version) => bundle('etcd', version, { image: images[version] })),
  );
}

describe.each([
  ['docker-registry', ['docker-registry'], dockerRegistry],
  ['docker-registry with htpasswd and TLS', ['docker-registry', 'htpasswd'], guardedRegistry],
  ['the registry of go-containerregistry', ['registry'], craneRegistry],
] as const)('%s', (_, needed, begin) => {
  const missing = needed.filter((program) => !isOnPath(program));

  test.skipIf(missing.length > 0)(
    `a bundle may change until its index image is published${missing.length > 0 ? ` (needs ${missing})` : ''}`,
    async () => {
      const { host, options } = await begin();
      const { directory, commit, remove } = makeRepository();
      onTestFinished(remove);
      const [one, two] = ['quay.io/org/etcd:one', 'quay.io/org/etcd:two'];
      const policy = [
        'apiVersion: portolan/v1alpha1',
        'kind: Portolan',
        'rules: {image/*: off}',
        `registries: {allow: ['${host}'], credentials: ['${host}'], internal: ['${host}']}`,
        `graph: {released: {'v4.*': {image: '${host}/org/index:v{minor}'}}}`,
      ].join('\n');
      const released = commit({ [FILE]: etcd({ '1.0.0': one }), '.github/portolan.yaml': policy });
      const branch = commit({ [FILE]: etcd({ '1.0.0': one, '1.1.0': two }) }, { parents: [released] });
      const publish = (id: string): ReturnType<typeof portolan> =>
        portolan(
          directory,
          ...['publish', '--catalog', 'v4.20', '--commit', id, '--fence', 'none', ...options],
          ...['--to', `${host}/org/index:v4.20`],
        );
      const check = async (images: Readonly<Record<string, string>>): Promise<unknown> => {
        const head = commit({ [FILE]: etcd(images) }, { parents: [branch] });
        const words = ['check', '--base', branch, '--head', head, '--format', 'json', ...options];
        const { findings, verdict, unchecked } = JSON.parse((await portolan(directory, ...words)).out);
        const told = findings.filter(({ rule }: { rule: string }) => rule === 'graph/bundle-mutated');
        return { verdict, told: told.map(({ severity }: { severity: string }) => severity), unchecked };
      };
      expect(await publish(released)).toMatchObject({ exit: 0 });
      const changesTwo = { '1.0.0': one, '1.1.0': 'quay.io/org/etcd:again' };
      expect(await check(changesTwo)).toEqual({ verdict: 'pass', told: ['info'], unchecked: [] });
      const changesOne = { '1.0.0': 'quay.io/org/etcd:again', '1.1.0': two };
      expect(await check(changesOne)).toEqual({ verdict: 'fail', told: ['error'], unchecked: [] });
      expect(await publish(branch)).toMatchObject({ exit: 0 });
      expect(await check(changesTwo)).toEqual({ verdict: 'fail', told: ['error'], unchecked: [] });
    },
  );
});
