/** Advisories: written, applied to every catalog that has the versions, and listed with what became of them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { portolan, type Ran } from '../../../fakes/terminal.ts';

function catalog(...versions: readonly string[]): string {
  const blobs = [
    '---\nschema: olm.package\nname: etcd\ndefaultChannel: stable\n',
    `---\nschema: olm.channel\npackage: etcd\nname: stable\nentries:\n${versions
      .map(
        (version, i) => `- name: etcd.v${version}\n${i > 0 ? `  replaces: etcd.v${versions[i - 1]}\n` : ''}`,
      )
      .join('')}`,
    ...versions.map(
      (version) =>
        `---\nschema: olm.bundle\npackage: etcd\nname: etcd.v${version}\nimage: quay.io/example/etcd@sha256:${'a'.repeat(64)}\nproperties:\n- type: olm.package\n  value: {packageName: etcd, version: ${version}}\n`,
    ),
  ];
  return blobs.join('');
}

const [V19, V20] = ['catalogs/v4.19/etcd/catalog.yaml', 'catalogs/v4.20/etcd/catalog.yaml'];

let repository: TestRepository;
beforeAll(() => {
  repository = makeRepository();
  repository.commit({ [V19]: catalog('1.0.0', '1.1.0', '1.2.0'), [V20]: catalog('1.1.0', '1.2.0') });
  repository.git('reset', '--hard', '--quiet', 'main');
});
afterAll(() => repository.remove());

function advisory(...words: readonly string[]): Promise<Ran> {
  return portolan(repository.directory, 'advisory', ...words);
}

function read(path: string): string {
  return readFileSync(join(repository.directory, path), 'utf8');
}

function commitAll(): void {
  repository.git('add', '--all');
  repository.git('commit', '--quiet', '--message', 'a change');
}

const NEW = ['--package', 'etcd', '--reason', 'data-loss', '-m', 'Loses data'];

test('a version in the middle: every catalog is edited, once', async () => {
  // A folder of the work tree does as well as its top.
  const within = join(repository.directory, 'catalogs/v4.19');
  const made = await portolan(within, 'advisory', 'new', 'ETCD-1', ...NEW, '--version', '1.1.0');
  expect(made.exit, made.err).toBe(0);
  expect(made.out).toContain('v4.19: to apply, 1 file to change\n');
  expect(made.out).toContain('wrote advisories/ETCD-1.yaml\nnext: portolan advisory apply ETCD-1\n');
  expect(read('advisories/ETCD-1.yaml')).toContain('action: yank\n');
  expect(await advisory('new', 'ETCD-1', ...NEW, '--version', '1.1.0')).toMatchObject({ exit: 2 });

  expect((await advisory('list')).err).toContain(
    'no advisories in the commit: new files in advisories/ count',
  );

  const dry = await advisory('apply', 'ETCD-1', '--dry-run');
  expect(dry.out).toContain(
    '-  replaces: etcd.v1.1.0\n+  replaces: etcd.v1.0.0\n+  skips:\n+  - etcd.v1.1.0\n',
  );
  expect(repository.git('status', '--porcelain')).toBe('?? advisories/');

  const applied = await advisory('apply', 'ETCD-1');
  expect(applied.exit, applied.err).toBe(0);
  // Again, before anything is committed.
  expect(await advisory('apply', 'ETCD-1')).toEqual({ ...applied, err: 'no changes\n' });
  const json = await advisory('apply', 'ETCD-1', '--json');
  expect(JSON.parse(json.out).catalogs).toHaveLength(2);
  const text = read(V19);
  writeFileSync(join(repository.directory, V19), `${text}# by hand\n`);
  expect((await advisory('apply', 'ETCD-1')).err).toContain(`${V19} is not as the commit has it`);
  writeFileSync(join(repository.directory, V19), text);
  expect(applied.out).toContain(
    'OLM v0, stable: 1.0.0: upgrades to 1.1.0, ends at 1.2.0 -> upgrades to 1.2.0\n',
  );
  expect(read(V19)).not.toContain('name: etcd.v1.1.0');
  expect(read(V20)).not.toContain('name: etcd.v1.1.0');
  commitAll();
  expect(await advisory('list')).toMatchObject({
    exit: 0,
    out: 'ETCD-1: yank etcd 1.1.0\n  v4.19: applied\n  v4.20: applied\n',
  });
  expect(await advisory('apply', 'ETCD-1', '--dry-run')).toMatchObject({
    exit: 0,
    out: 'v4.19, v4.20: applied\n',
  });
});

test('a commit that puts the version back loses the advisory', async () => {
  repository.git('checkout', '--quiet', 'HEAD~1', '--', V19);
  commitAll();
  const listed = await advisory('list', '--json');
  expect(listed.exit).toBe(1);
  const [one] = JSON.parse(listed.out).advisories;
  expect(one.catalogs.map(({ state }: { state: string }) => state)).toEqual(['lost', 'applied']);
  await advisory('apply', 'ETCD-1');
  commitAll();
  expect((await advisory('list')).exit).toBe(0);
});

test('the head: the advisory names every version without an upgrade path, or nothing is changed', async () => {
  await advisory('new', 'ETCD-2', ...NEW, '--version', '1.2.0', '--catalog', 'v4.19');
  expect((await advisory('list')).err).toBe(
    'warning: advisories/ETCD-2.yaml is not in the commit: commit it to list it\n',
  );
  const text = read('advisories/ETCD-2.yaml');
  expect(text).toContain('withoutUpgradePath:\n- etcd.v1.1.0\n- etcd.v1.2.0\n');
  writeFileSync(
    join(repository.directory, 'advisories/ETCD-2.yaml'),
    text.replace(/withoutUpgradePath:[\s\S]*/, ''),
  );
  const refused = await advisory('apply', 'ETCD-2');
  expect(refused.exit).toBe(1);
  expect(refused.err).toContain('add to the advisory: withoutUpgradePath: [etcd.v1.1.0, etcd.v1.2.0]');
  expect(repository.git('status', '--porcelain', '--', 'catalogs')).toBe('');
  writeFileSync(join(repository.directory, 'advisories/ETCD-2.yaml'), text);
  const applied = await advisory('apply', 'ETCD-2');
  expect(applied.exit, applied.err).toBe(0);
  expect(applied.out).toContain('NO UPGRADE PATH OLM v0, stable: 1.2.0: is the head -> stays:');
  expect(read(V20)).toContain('name: etcd.v1.2.0');
});

test('the only version: the file goes', async () => {
  repository.git('reset', '--hard', '--quiet', 'main');
  repository.git('clean', '--quiet', '--force', '-d');
  await advisory('new', 'ETCD-3', ...NEW, '--version', '>=1.0.0');
  const applied = await advisory('apply', 'ETCD-3');
  expect(applied.exit, applied.err).toBe(0);
  expect(existsSync(join(repository.directory, V20))).toBe(false);
});

test('a channel whose entries go in a circle: the output says where the new edges come from', async () => {
  repository.git('reset', '--hard', '--quiet', 'main');
  repository.git('clean', '--quiet', '--force', '-d');
  const circle = catalog('1.0.0', '1.1.0', '1.2.0').replace(
    '- name: etcd.v1.0.0\n',
    '- name: etcd.v1.0.0\n  replaces: etcd.v1.2.0\n',
  );
  writeFileSync(join(repository.directory, V19), circle);
  commitAll();
  await advisory('new', 'ETCD-5', ...NEW, '--version', '1.1.0');
  const applied = await advisory('apply', 'ETCD-5');
  expect(applied.exit, applied.err).toBe(0);
  const note =
    'new upgrade graph from suggest-graph for channel stable: no edit of single entries is enough\n';
  expect(applied.out.split(note)).toHaveLength(2);
  expect(applied.out).toContain(`v4.19: to apply, 1 file to change\n    ${note}`);
  expect(read(V19)).toContain(
    '- name: etcd.v1.0.0\n- name: etcd.v1.2.0\n  replaces: etcd.v1.0.0\n  skips:\n  - etcd.v1.1.0\n',
  );
});

test('a redirection that nobody can follow is refused; one to what some catalogs have is not', async () => {
  repository.git('reset', '--hard', '--quiet', 'main');
  repository.git('clean', '--quiet', '--force', '-d');
  const to = (id: string, ...words: string[]): Promise<Ran> =>
    advisory('new', id, ...NEW, '--version', '1.1.0', '--action', 'redirect', ...words);
  const version = await to('ETCD-6', '--to-version', '9.9.9');
  expect(version.exit).toBe(1);
  expect(version.out).toContain(
    'v4.19, v4.20: cannot be applied: no catalog has the version 9.9.9 to redirect to\n',
  );
  expect(read('advisories/ETCD-6.yaml')).not.toContain('withoutUpgradePath');
  expect(await advisory('apply', 'ETCD-6')).toMatchObject({ exit: 1, err: 'FAIL: nothing was changed\n' });
  const channel = await to('ETCD-7', '--to-channel', 'stabel');
  expect(channel.out).toContain('no catalog has the channel "stabel" to redirect to\n');
  const some = await to('ETCD-8', '--to-version', '1.2.0');
  expect(some.exit, some.err).toBe(0);
  const lower = await to('ETCD-9', '--to-version', '1.0.0');
  expect(lower.exit).toBe(1);
  expect(lower.out).toContain(
    'v4.19, v4.20: cannot be applied: no edit moves clusters to version 1.0.0 without a downgrade (allowDowngrade)\n',
  );
  repository.git('clean', '--quiet', '--force', '-d');
});

test('options that need each other are named', async () => {
  expect(
    (await advisory('new', 'E', '--package', 'etcd', '--version', '1.0.0', '-m', 'x', '--reason', 'cve')).err,
  ).toContain('--reason cve needs --reason-id');
  expect((await advisory('new', 'E', ...NEW, '--version', '1.0.0', '--action', 'redirect')).err).toContain(
    '--action redirect needs --to-version or --to-channel',
  );
  expect((await advisory('new', 'E-1', ...NEW, '--version', '9.9.9')).err).toBe(
    'warning: no catalog has, or had, these versions\n',
  );
  const typed = ['--version', '1.0.0', '-m', 'x'];
  expect((await advisory('new', 'E-2', '--package', 'ectd', ...typed)).err).toBe(
    'warning: no catalog has the package "ectd"\n',
  );
  expect(await advisory('apply', 'E-2')).toEqual({
    exit: 0,
    out: '',
    err: 'warning: no catalog has the package "ectd"\n',
  });
  expect((await advisory('new', 'E-3', '--package', 'etcd', ...typed, '--catalog', 'v5')).err).toBe(
    'warning: no catalog v5 has the package "etcd"\n',
  );
  repository.git('clean', '--quiet', '--force', '-d');
});

test('what cannot be applied says why', async () => {
  expect(await advisory('apply', 'NONE')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('there is no advisories/NONE.yaml'),
  });
  expect(await advisory('apply', '../x')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('not a valid id'),
  });
  const wrong = await advisory('new', 'ETCD-4', ...NEW, '--version', 'latest');
  expect(wrong).toMatchObject({
    exit: 2,
    err: expect.stringContaining('"latest" is not a version or a range'),
  });
});

test('a package in folders of another name is found by its blobs', async () => {
  const made = makeRepository();
  try {
    const file = 'catalogs/v4.20/etcd-operator/catalog.yaml';
    const other = catalog('1.0.0')
      .replaceAll('etcd', 'other')
      .replace('package: other', 'package: other # not etcd');
    made.commit({ [file]: catalog('1.0.0', '1.1.0', '1.2.0'), 'catalogs/v4.20/other/catalog.yaml': other });
    made.git('reset', '--hard', '--quiet', 'main');
    const run = (...words: readonly string[]) => portolan(made.directory, 'advisory', ...words);
    expect((await run('new', 'ETCD-1', ...NEW, '--version', '1.1.0')).out).toContain('v4.20: to apply');
    const applied = await run('apply', 'ETCD-1');
    expect(applied, applied.err).toMatchObject({ exit: 0, out: expect.stringContaining(`${file}\n`) });
    expect(readFileSync(join(made.directory, file), 'utf8')).not.toContain('name: etcd.v1.1.0\nimage');
  } finally {
    made.remove();
  }
});
