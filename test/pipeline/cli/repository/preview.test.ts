import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { makeRepository } from '../../../fakes/repository.ts';
import { sampleRepository } from '../../../fakes/sample.ts';
import { portolan } from '../../../fakes/terminal.ts';

test('builds what would be published, and asks it for its packages', async () => {
  const repository = sampleRepository();
  onTestFinished(repository.remove);
  const out = folder();
  const options = [
    '--base',
    repository.base,
    '--head',
    repository.addition,
    '--out',
    out,
    '--format',
    'json',
  ];
  const { exit, out: text } = await portolan(repository.directory, 'preview', ...options);
  expect(exit).toBe(0);
  expect(JSON.parse(text)).toMatchObject([
    {
      catalog: 'v4.20',
      digest: expect.stringMatching(/^sha256:/),
      packages: ['ferry-operator', 'harbour-operator', 'lighthouse-operator'],
      changed: ['harbour-operator'],
      findings: [],
    },
  ]);
  expect(existsSync(join(out, 'v4.20', 'index.json'))).toBe(true);
  const same = ['--base', repository.base, '--head', repository.base, '--out', out];
  expect(await portolan(repository.directory, 'preview', ...same)).toEqual({
    exit: 0,
    out: '',
    err: 'no catalog changed: nothing to build\n',
  });
});

test('finds the catalogs of a repository that has no policy', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const files = (versions: readonly string[]) => ({
    'fbc/v4.18/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'fbc/v4.19/etcd/catalog.yaml': catalogOf('etcd', versions),
    'README.md': 'x',
  });
  const base = repository.commit(files(['1.0.0']));
  const head = repository.commit(files(['1.0.0', '1.1.0']), { parents: [base] });
  const options = ['--base', base, '--head', head, '--out', folder(), '--format', 'json'];
  const { exit, out } = await portolan(repository.directory, 'preview', ...options);
  expect(exit).toBe(0);
  expect(JSON.parse(out)).toMatchObject([{ catalog: 'v4.19', changed: ['etcd'], packages: ['etcd'] }]);
});

test('a package that a pull request removes has changed, too', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit({
    'fbc/v4.18/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'fbc/v4.18/nats/catalog.yaml': catalogOf('nats', ['1.0.0']),
  });
  const head = repository.commit({ 'fbc/v4.18/nats/catalog.yaml': null }, { parents: [base] });
  const out = folder();
  const ran = await portolan(
    repository.directory,
    ...['preview', '--base', base, '--head', head, '--out', out],
  );
  expect(ran).toMatchObject({
    exit: 0,
    out: expect.stringContaining('v4.18: serves 1 package; changed: nats\n'),
  });
});

test('writes nothing for a catalog whose name is a way out of the folder', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const files = {
    '.github/portolan.yaml':
      "apiVersion: portolan/v1alpha1\nkind: Portolan\nlayout: {catalog: 'catalogs/{catalog}.yaml'}\n",
    'catalogs/v4.20.yaml': catalogOf('etcd', ['1.0.0']),
  };
  const preview = async (name: string) => {
    const added = { [`catalogs/${name}.yaml`]: catalogOf('etcd', ['1.0.0']) };
    const [base = '', head = ''] = repository.chain(files, { ...files, ...added });
    const out = join(folder(), 'out');
    const ran = await portolan(repository.directory, 'preview', '--base', base, '--head', head, '--out', out);
    return { ...ran, beside: existsSync(dirname(out)) ? readdirSync(dirname(out)) : [] };
  };
  const { exit, err, beside } = await preview('..');
  expect([exit, beside]).toEqual([2, []]);
  expect(err).toContain('".." is not a valid catalog name');
  expect(await preview('v4.21')).toMatchObject({ exit: 0, beside: ['out'] });
});
