/** `mirror plan --from`: the plan of a cluster's upgrade, its patches, and a configuration that mirror plan follows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, writeBelow } from '../../fakes/folder.ts';
import { portolan } from '../../fakes/terminal.ts';

const ROW = {
  cluster: 'east',
  platform: '4.18.2',
  olm: 'v0',
  package: 'shop',
  csv: 'shop.v1.0.0',
  version: '1.0.0',
  channels: ['stable'],
  approval: 'Manual',
  namespace: 'team a',
  object: 'my-shop',
};

function catalog(
  versions: readonly string[],
  limits: Readonly<Record<string, string>> = {},
  first = '',
): string {
  const entries = versions.map((one, i) => {
    const before = i > 0 ? `shop.v${versions[i - 1]}` : first;
    return `{name: shop.v${one}${before === '' ? '' : `, replaces: ${before}`}}`;
  });
  return [
    'schema: olm.package\nname: shop\ndefaultChannel: stable\n',
    `schema: olm.channel\npackage: shop\nname: stable\nentries: [${entries.join(', ')}]\n`,
    ...versions.map((one) => {
      const limit =
        limits[one] === undefined ? '' : `, {type: olm.maxOpenShiftVersion, value: "${limits[one]}"}`;
      return `schema: olm.bundle\npackage: shop\nname: shop.v${one}\nimage: quay.io/acme/shop:v${one}\nproperties: [{type: olm.package, value: {packageName: shop, version: ${one}}}${limit}]\n`;
    }),
  ].join('---\n');
}

/** Catalogs of three versions, and the update graphs of their channels. */
function scene(rows: readonly object[] = [ROW]): string {
  const directory = folder();
  const limits = { '1.0.0': '4.18', '1.1.0': '4.18' };
  writeBelow(directory, {
    'catalogs/v4.18/shop/catalog.yaml': catalog(['1.0.0', '1.1.0', '1.2.0', '1.3.0'], limits),
    'catalogs/v4.19/shop/catalog.yaml': catalog(['1.2.0', '1.3.0']),
    'catalogs/v4.20/shop/catalog.yaml': catalog(['1.3.0', '1.4.0'], {}, 'shop.v1.2.0'),
    'cluster.json': JSON.stringify({ kind: 'Fleet', rows }),
  });
  for (const minor of [19, 20]) {
    const nodes = [`4.${minor - 1}.2`, `4.${minor}.1`].map((version, i) => ({
      version,
      payload: `quay.io/acme/release@sha256:${String(minor + i).padStart(64, '0')}`,
    }));
    writeBelow(directory, {
      [`graphs/amd64-stable-4.${minor}.json`]: JSON.stringify({ nodes, edges: [[0, 1]] }),
    });
  }
  // From 4.19.1, not from the first release of 4.19.
  const path = join(directory, 'graphs/amd64-stable-4.20.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace('4.19.2', '4.19.1'));
  return directory;
}

const plan = (directory: string, ...words: string[]) =>
  portolan(
    directory,
    ...['mirror', 'plan', '--from', 'cluster.json', '--to', '4.20', '--update-graph', 'graphs'],
    ...['catalogs/v4.18', 'catalogs/v4.19', 'catalogs/v4.20', '--as', 'quay.io/acme/catalog', ...words],
  );

test('the steps in their order, the patches, and the smallest configuration', async () => {
  const directory = scene();
  const ran = await plan(directory);
  expect(ran, ran.err).toMatchObject({ exit: 0 });
  expect(ran.out).toBe(
    [
      'east: OpenShift 4.18.2 to 4.20.1, 5 steps, each simulated',
      ' 1. upgrade shop from 1.0.0 to 1.1.0 (OLM v0, channel stable, catalog quay.io/acme/catalog:v4.18); approve its InstallPlan',
      ' 2. upgrade shop from 1.1.0 to 1.2.0 (OLM v0, channel stable, catalog quay.io/acme/catalog:v4.18); approve its InstallPlan',
      ' 3. update OpenShift to 4.19.1 (channel stable-4.19)',
      ' 4. update OpenShift to 4.20.1 (channel stable-4.20)',
      ' 5. upgrade shop from 1.2.0 to 1.3.0 (OLM v0, channel stable, catalog quay.io/acme/catalog:v4.20); approve its InstallPlan',
      '',
    ].join('\n'),
  );
  const patches = readFileSync(join(directory, 'mirror/patches.sh'), 'utf8');
  expect(patches).toContain(
    `oc patch subscriptions.operators.coreos.com my-shop -n 'team a' --type merge -p '{"spec":{"channel":"stable","source":"catalog-v4-20-`,
  );
  expect(readFileSync(join(directory, 'mirror/imageset-config.yaml'), 'utf8')).toMatchInlineSnapshot(`
    "apiVersion: mirror.openshift.io/v2alpha1
    kind: ImageSetConfiguration
    mirror:
      operators:
      - catalog: quay.io/acme/catalog:v4.18
        packages:
        - channels:
          - maxVersion: 1.2.0
            minVersion: 1.1.0
            name: stable
          name: shop
      - catalog: quay.io/acme/catalog:v4.20
        packages:
        - channels:
          - maxVersion: 1.3.0
            minVersion: 1.3.0
            name: stable
          name: shop
      platform:
        channels:
        - maxVersion: 4.19.1
          minVersion: 4.19.1
          name: stable-4.19
        - maxVersion: 4.20.1
          minVersion: 4.20.1
          name: stable-4.20
    "
  `);
});

test('as JSON, and the versions that a cluster cannot get to', async () => {
  const directory = scene();
  const { out } = await plan(directory, '--format', 'json');
  expect(
    JSON.parse(out).steps.map(({ kind, to, version }: Record<string, string>) => to ?? `${kind} ${version}`),
  ).toEqual(['shop.v1.1.0', 'shop.v1.2.0', 'release 4.19.1', 'release 4.20.1', 'shop.v1.3.0']);
  writeBelow(directory, {
    'catalogs/v4.18/shop/catalog.yaml': catalog(['1.0.0', '1.1.0'], { '1.0.0': '4.18', '1.1.0': '4.18' }),
  });
  expect(await plan(directory, '--out', 'none')).toMatchObject({
    exit: 1,
    out: '',
    err: expect.stringContaining('no upgrade leads from shop.v1.0.0'),
  });
  // What no catalog has is not known to be in the way.
  const unknown = scene([{ ...ROW, csv: 'shop.v0.9.0', version: '0.9.0' }]);
  expect(await plan(unknown)).toMatchObject({ exit: 2, err: expect.stringContaining('is not known') });
});

test.each([
  ['two clusters', [ROW, { ...ROW, cluster: 'west' }], '2 clusters: east, west'],
  ['no version of the platform', [{ ...ROW, platform: undefined }], 'does not have the version of OpenShift'],
  ['no operators', [], 'has no operators'],
  ['a row without a name', [{ cluster: 'east' }], 'rows[0] does not name'],
])('an inventory with %s is refused', async (_, rows, message) => {
  expect(await plan(scene(rows))).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(message) });
});

test('a context that is neither a file nor in the kubeconfig, a wrong target, and a catalog without a version', async () => {
  const directory = scene();
  const run = (...words: string[]) => portolan(directory, 'mirror', 'plan', ...words);
  expect(await run('--from', 'gone', '--to', '4.20', '--kubeconfig', 'none', 'catalogs/v4.20')).toMatchObject(
    { exit: 2 },
  );
  expect(
    await run('--from', 'cluster.json', '--to', 'mirror.example.com/olm', 'catalogs/v4.20'),
  ).toMatchObject({
    exit: 2,
    err: expect.stringContaining('must be a version of OpenShift'),
  });
  expect(await run('--from', 'cluster.json', '--to', '4.20', 'catalogs')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('cannot tell the OpenShift version'),
  });
  expect(await run('catalogs/v4.19', 'catalogs/v4.20', '--to', 'mirror.example.com/olm')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('unexpected argument'),
  });
});
