/** systemd itself reads the units that keep a mirror up to date. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../fakes/folder.ts';
import { portolan } from '../fakes/terminal.ts';
import { isOnPath } from '../fakes/tools.ts';

const CONFIG =
  'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages: [{name: "quay.io/acme/a:1"}]\n';

test.runIf(isOnPath('systemd-analyze'))('systemd accepts the units', async () => {
  const directory = folder();
  const name = 'a "b" $HOME %h.yaml';
  writeFileSync(join(directory, name), CONFIG);
  await portolan(
    directory,
    'mirror',
    'setup',
    name,
    '--to',
    'mirror.example.com/olm',
    '--sign-key',
    'mirror key.pem',
  );
  const units = ['service', 'timer'].map((kind) => join(directory, `mirror-setup/portolan-mirror.${kind}`));
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => line.includes('portolan-mirror'))).toEqual([]);
  expect(status).toBe(0);
});
