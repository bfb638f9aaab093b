/** A mirror that stays up to date: units of systemd, a CronJob, and the page that each sync writes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';
import { folder } from '../../fakes/folder.ts';
import { portolan } from '../../fakes/terminal.ts';

const CONFIG =
  'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages: [{name: "quay.io/acme/a:1"}]\n';

function scene(name = 'isc.yaml') {
  const directory = folder();
  writeFileSync(join(directory, name), CONFIG);
  const setup = (...words: string[]) =>
    portolan(directory, 'mirror', 'setup', name, '--to', 'mirror.example.com/olm', ...words);
  const file = (path: string) => readFileSync(join(directory, 'mirror-setup', path), 'utf8');
  return { directory, setup, file };
}

test('a service and a timer of systemd', async () => {
  const { directory, setup, file } = scene();
  expect(await setup('--prune', '--authfile', 'auth.json', '--at', '03:05')).toMatchObject({
    exit: 0,
    err: 'mirror-setup: portolan-mirror.service, portolan-mirror.timer\n',
    out: expect.stringContaining('sudo systemctl enable --now portolan-mirror.timer\n'),
  });
  expect(file('portolan-mirror.service')).toContain(
    `WorkingDirectory=${directory}\nExecStart=/usr/bin/env portolan mirror sync ${directory}/isc.yaml --to mirror.example.com/olm --out mirror --status-page status.html --prune --authfile ${directory}/auth.json\n`,
  );
  expect(file('portolan-mirror.timer')).toContain('OnCalendar=*-*-* 03:05:00 UTC\n');
  expect(await setup('--prune', '--authfile', 'auth.json', '--at', '03:05')).toMatchObject({
    err: 'mirror-setup: nothing changed\n',
  });
});

test('two configurations have units and objects of their own names', async () => {
  const { setup, file } = scene();
  const named = ['--name', 'mirror-4-20'];
  expect(await setup(...named)).toMatchObject({
    exit: 0,
    err: 'mirror-setup: mirror-4-20.service, mirror-4-20.timer\n',
    out: expect.stringContaining('sudo systemctl enable --now mirror-4-20.timer\n'),
  });
  expect(file('mirror-4-20.timer')).toContain('Description=Time of mirror-4-20.service\n');
  const job = await setup(...named, '--image', 'registry.example.com/portolan:0.1.0', '--ca', 'ca.pem');
  expect(job.out).toContain('oc create secret generic mirror-4-20 --from-file=ca-1.pem=');
  const objects = loadAll(file('cronjob.yaml')) as { metadata: { name: string } }[];
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(Array(3).fill('mirror-4-20'));
  for (const name of ['../x', 'A', 'a-', 'a'.repeat(53)]) {
    const err = expect.stringContaining('--name must have at most 52');
    expect(await setup('--name', name)).toMatchObject({ exit: 2, err });
  }
});

test('names that mean something to systemd stay words, and a line break is refused', async () => {
  const { setup, file } = scene('a "b" $HOME %h \\.yaml');
  expect(await setup()).toMatchObject({ exit: 0 });
  expect(file('portolan-mirror.service')).toContain('/a \\"b\\" $$HOME %%h \\\\.yaml" --to');
  const broken = scene('a\nExecStartPre=id.yaml');
  expect(await broken.setup()).toMatchObject({
    exit: 2,
    err: expect.stringContaining('a control character'),
  });
});

test('a CronJob with its configuration and a volume; secrets stay outside of the files', async () => {
  const { directory, setup, file } = scene();
  const words = [
    '--image',
    'registry.example.com/portolan:0.1.0',
    '--sign-key',
    'mirror.key',
    '--authfile',
    'my auth.json',
    '--ca',
    'ca.pem',
  ];
  const ran = await setup(...words);
  expect(ran).toMatchObject({ exit: 0, err: 'mirror-setup: cronjob.yaml\n' });
  expect(ran.out).toContain(
    `oc create secret generic portolan-mirror '--from-file=auth.json=${directory}/my auth.json' --from-file=mirror.key=${directory}/mirror.key --from-file=ca-1.pem=${directory}/ca.pem\n`,
  );
  const [config, claim, job] = loadAll(file('cronjob.yaml')) as Record<string, never>[];
  expect(readImageSet(config?.['data']?.['imageset-config.yaml'] ?? '', 'isc.yaml').findings).toEqual([]);
  expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim' });
  expect(job).toMatchObject({
    kind: 'CronJob',
    spec: {
      schedule: '17 2 * * *',
      concurrencyPolicy: 'Forbid',
      jobTemplate: {
        spec: {
          template: {
            spec: {
              containers: [
                {
                  args: [
                    ...['mirror', 'sync', '/config/imageset-config.yaml', '--to', 'mirror.example.com/olm'],
                    ...['--out', 'mirror', '--status-page', 'status.html'],
                    ...['--sign-key', '/secret/mirror.key', '--authfile', '/secret/auth.json'],
                    ...['--ca', '/secret/ca-1.pem'],
                  ],
                },
              ],
            },
          },
        },
      },
    },
  });
});

test('files that a configuration names are not in a CronJob; a service has them', async () => {
  const { directory, setup } = scene();
  const config = `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v2alpha1
mirror:
  operators: [{catalog: "oci:///srv/index", targetCatalogSourceTemplate: cs.yaml}]
  helm: {local: [{name: a, path: ./a, valuesFiles: [v.yaml]}]}
`;
  writeFileSync(join(directory, 'isc.yaml'), config);
  expect(await setup()).toMatchObject({ exit: 0 });
  expect(await setup('--image', 'registry.example.com/portolan:0.1.0')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('the files that isc.yaml names: oci:///srv/index, cs.yaml, ./a, v.yaml'),
  });
});

test('a configuration that a sync could not follow is refused', async () => {
  const { directory, setup } = scene();
  writeFileSync(join(directory, 'isc.yaml'), CONFIG.replace('additionalImages', 'additionalImage'));
  expect(await setup()).toMatchObject({
    exit: 2,
    err: expect.stringContaining('mirror sync cannot follow isc.yaml: '),
  });
});

test.each([
  [['--at', '24:00'], '--at must be a time such as 02:17'],
  [['--at', '2:17'], '--at must be a time such as 02:17'],
  [['--at', '102:17'], '--at must be a time such as 02:17'],
  [['--at', '02:170'], '--at must be a time such as 02:17'],
])('%j is refused', async (words, why) => {
  const { setup } = scene();
  expect(await setup(...words)).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
  expect(await portolan(folder(), 'mirror', 'setup', 'none.yaml', '--to', 'm.example.com')).toMatchObject({
    exit: 2,
  });
});
