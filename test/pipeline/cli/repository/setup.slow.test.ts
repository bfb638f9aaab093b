import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { sampleRepository } from '../../../fakes/sample.ts';
import { portolan, runCommand } from '../../../fakes/terminal.ts';

test('one admin can keep working with what it writes, and hears what a second one changes', async () => {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const words = ['setup', '--commit', commit, '--admin'];
  const two = await portolan(repository.directory, ...words, 'alice,bob', '--dry-run');
  expect(two.out).not.toContain('only admin');
  const { out } = await portolan(repository.directory, ...words, 'alice');
  expect(out).toContain(
    'alice is the only admin, and may change the gate alone; once you add a second admin',
  );
  const policy = ['--policy', '.github/portolan.yaml', '--author', 'alice'];
  for (const path of ['docs/index.md', '.github/workflows/portolan.yml', '.github/dependabot.yml']) {
    const head = repository.commit({ [path]: 'x' }, { parents: [commit] });
    const checked = await portolan(
      repository.directory,
      'check',
      '--base',
      commit,
      '--head',
      head,
      ...policy,
    );
    expect(checked.out, path).toMatch(/^OBSERVED: would have passed/);
    expect(checked.exit).toBe(0);
  }
});

test('writes a policy that holds, and workflows that name one action by its commit', async () => {
  const repository = sampleRepository({
    '.github/portolan.yaml': null,
    '.github/workflows/portolan-drift.yml': 'on: push\n',
  });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const pin = `acme/portolan@${'a'.repeat(40)}`;
  const options = ['--commit', commit, '--admin', 'alice,@acme/admins', '--action', pin];
  const { exit, out } = await portolan(repository.directory, 'setup', ...options);
  expect(exit).toBe(0);
  expect(out).toContain('kept .github/workflows/portolan-drift.yml');
  expect(out).toMatch(/next: commit these files.*\n.*remove enforce: off from the policy.*\n$/);
  const written = (path: string): string => readFileSync(join(repository.directory, path), 'utf8');
  const { policy, findings } = readPolicy(Buffer.from(written('.github/portolan.yaml')));
  expect(findings).toEqual([]);
  expect(policy?.owners.admins).toMatchObject([{ login: 'alice' }, { team: 'acme/admins' }]);
  expect(written('.github/portolan.yaml')).toMatch(/^# yaml-language-server: \$schema=/);
  expect(written('.github/workflows/portolan.yml')).toContain(`uses: ${pin}\n`);
  const installs = written('.github/workflows/install-test.yml');
  expect(installs).toContain(`https://github.com/acme/portolan ${'a'.repeat(40)}\n`);
  expect(existsSync(join(repository.directory, '.github/workflows/portolan-drift.yml'))).toBe(false);
  // Said again before anything is committed, it leaves what it wrote.
  const again = await portolan(repository.directory, 'setup', '--commit', commit, '--admin', 'mallory');
  expect([again.exit, again.out]).toEqual([0, expect.stringContaining('kept .github/portolan.yaml')]);
  expect(written('.github/portolan.yaml')).not.toContain('mallory');
  expect(again.out).toContain('not in .github/portolan.yaml: mallory; setup changes no existing file');
  const same = await portolan(repository.directory, 'setup', '--commit', commit, '--admin', 'alice');
  expect(same.out).not.toContain('not in .github');
});

test.each([
  ['leaves the clone', '.github', () => folder()],
  ['stays in the clone', '.github/workflows', (clone: string) => join(clone, 'elsewhere')],
])('attack 53: it does not write through a link that %s', async (_, link, targetIn) => {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const target = targetIn(repository.directory);
  mkdirSync(target, { recursive: true });
  rmSync(join(repository.directory, '.github'), { recursive: true, force: true });
  mkdirSync(dirname(join(repository.directory, link)), { recursive: true });
  symlinkSync(target, join(repository.directory, link));
  const words = ['setup', '--commit', commit, '--admin', 'alice', '--last', '0'];
  const { exit, err } = await portolan(repository.directory, ...words);
  expect([exit, err]).toEqual([2, expect.stringContaining(`${link} is a symbolic link`)]);
  expect(readdirSync(target)).toEqual([]);
});

test('in a folder of the work tree, it writes at the top of the work tree', async () => {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const commit = repository.git('rev-parse', 'HEAD');
  const inner = join(repository.directory, 'catalogs/v4.20');
  mkdirSync(inner, { recursive: true });
  const { exit } = await portolan(inner, 'setup', '--commit', commit, '--last', '0');
  expect(exit).toBe(0);
  expect(existsSync(join(repository.directory, '.github/workflows/portolan.yml'))).toBe(true);
  expect(existsSync(join(inner, '.github'))).toBe(false);
});

/** A repository of which the last merges changed docs, changed the gate together with docs, and stranded clusters. */
function withMerges() {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const merge = (files: Files, message: string, parent: string): string =>
    repository.commit(files, { parents: [parent], author: 'alice', message });
  const docs = merge({ 'docs/index.md': 'x' }, 'docs', repository.stranding);
  const mixed = { '.github/workflows/portolan.yml': 'on: push\n', 'docs/other.md': 'x' };
  return { repository, docs, head: merge(mixed, 'gate and docs', docs) };
}

test('checks the last merges with the policy that it wrote, and names those that are denied', async () => {
  const { repository, head } = withMerges();
  const options = ['--commit', head, '--admin', 'alice'];
  const { exit, out } = await portolan(repository.directory, 'setup', ...options);
  expect(exit).toBe(0);
  expect(out).toContain(
    'past merges: of the last 3 merges, 1 passes at once, 0 pass after an approval, 2 fail\n',
  );
  expect(out).toMatch(
    new RegExp(`\n {2}\\S+ ${head.slice(0, 12)} gate and docs: .*policy changes need their own pull request`),
  );
  expect(out).toContain('portolan rehearse\n');
});

test('checks as many merges as it is asked to, with the policy that is there', async () => {
  const { repository, docs, head } = withMerges();
  const options = ['setup', '--admin', 'alice', '--commit'];
  const one = await portolan(repository.directory, ...options, docs, '--last', '1', '--dry-run');
  expect(one.out).toContain(
    'past merges: of the last 1 merge, 1 passes at once, 0 pass after an approval, 0 fail\n',
  );
  expect(one.out).not.toContain('portolan rehearse');
  const none = await portolan(repository.directory, ...options, head, '--last', '0', '--dry-run');
  expect(none.out).not.toContain('past merges');
  const wrong = await portolan(repository.directory, ...options, head, '--last=-1');
  expect([wrong.exit, wrong.err]).toEqual([2, expect.stringContaining('--last must be 0 or more')]);
  const broken = repository.commit({ '.github/portolan.yaml': 'kind: x\n' }, { parents: [docs] });
  const kept = await portolan(repository.directory, ...options, broken);
  expect(kept.out).toContain('past merges: could not be checked: the policy cannot be read');
});

test('says that no catalog was checked, and what bundles need, where there is no catalog', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const manifests = 'operators/etcd/1.0.0/manifests/';
  const base = repository.commit({ [`${manifests}csv.yaml`]: 'kind: x\n', 'README.md': 'a' });
  const head = repository.commit({ 'README.md': 'b' }, { parents: [base], author: 'alice' });
  const options = ['setup', '--commit', head, '--admin', 'alice', '--dry-run'];
  const { out } = await portolan(repository.directory, ...options);
  expect(out).toContain(
    'bundles: 1 package in operators/ and no catalog; Portolan checks the bundles. If a pipeline',
  );
  expect(out).toContain('0 fail\n  none of them changes a package, so no catalog was checked\n');
  // Of folders for versions, one stands for all.
  const annotations = 'annotations: {operators.operatorframework.io.bundle.package.v1: etcd}\n';
  const upstream = ['1.0.0', '1.1.0'].flatMap((version) => [
    [`deploy/upstream/${version}/manifests/etcd.clusterserviceversion.yaml`, 'kind: x\n'],
    [`deploy/upstream/${version}/metadata/annotations.yaml`, annotations],
  ]);
  const versions = repository.commit(Object.fromEntries(upstream), { parents: [head] });
  const all = await portolan(
    repository.directory,
    'setup',
    '--commit',
    versions,
    '--admin',
    'alice',
    '--dry-run',
  );
  expect(all.out).toContain('bundles: deploy/upstream/*: Portolan checks the bundle');
  const { repository: other, head: last } = withMerges();
  const catalogs = await portolan(
    other.directory,
    'setup',
    '--commit',
    last,
    '--admin',
    'alice',
    '--dry-run',
  );
  expect(catalogs.out).not.toContain('no catalog');
});

test('counts merges that pass once somebody approved, and those for which nobody is named', async () => {
  const repository = sampleRepository({ '.github/portolan.yaml': null });
  onTestFinished(repository.remove);
  const { base } = repository;
  const head = repository.commit({ '.github/dependabot.yml': 'x' }, { parents: [base], author: 'mallory' });
  const options = ['setup', '--commit', head, '--dry-run'];
  const { out } = await portolan(repository.directory, ...options, '--admin', 'alice');
  expect(out).toContain('of the last 1 merge, 0 pass at once, 1 passes after an approval, 0 fail\n');
  const nobody = await portolan(repository.directory, ...options);
  expect(nobody.out).toContain('0 fail, 1 needs an approval that nobody in the policy can give\n');
});

describe('what the files do not say', () => {
  const files: Files = {
    'catalogs/dev/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'catalogs/live/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  };
  const asked = async (
    answers: Readonly<Record<string, readonly string[]>>,
    interactive = true,
    more: Files = {},
  ) => {
    const { directory, commit, remove } = { ...makeRepository() };
    onTestFinished(remove);
    const head = commit({ ...files, ...more });
    const questions: string[] = [];
    const left = new Map(Object.entries(answers).map(([word, lines]) => [word, [...lines]]));
    const ask = async (question: string): Promise<string> => {
      questions.push(question);
      const word = [...left.keys()].find((one) => question.includes(one));
      return left.get(word ?? '')?.shift() ?? '';
    };
    const words = ['setup', '--commit', head, '--last', '0'];
    const ran = await runCommand(words, { directory, interactive, ask });
    const { policy, findings } = readPolicy(readFileSync(join(directory, '.github/portolan.yaml')));
    expect(findings).toEqual([]);
    return { ...ran, questions, policy, directory, head, words, ask };
  };

  test('is asked on a terminal, again if the answer cannot be read, and written into the policy', async () => {
    const answers = {
      'everything?': ['not a login', 'alice, @acme/admins'],
      'owns package etcd': ['bob'],
      'which order': ['dev, prod', 'dev, live'],
    };
    const { questions, policy, out, directory, words, ask } = await asked(answers);
    expect(questions).toHaveLength(5);
    expect(questions[1]).toMatch(/^"not a login" is not valid: expected LOGIN/);
    expect(questions[4]).toMatch(/^"prod" is not valid: expected some of dev, live\n/);
    expect(policy?.owners.admins).toMatchObject([{ login: 'alice' }, { team: 'acme/admins' }]);
    expect(policy?.owners.packages.get('etcd')).toMatchObject([{ login: 'bob' }]);
    expect(policy?.graph.catalogOrder).toEqual(['dev', 'live']);
    for (const open of ['no owner found', 'without an order', 'add admins']) expect(out).not.toContain(open);
    // Where a policy is there, nothing is asked.
    await runCommand(words, { directory, interactive: true, ask });
    expect(questions).toHaveLength(5);
  });

  test('what is named twice is written once', async () => {
    const { policy } = await asked({
      'everything?': ['alice, alice'],
      'owns package etcd': ['bob,bob'],
      'which order': ['dev, live, dev'],
    });
    expect(policy?.owners.admins).toMatchObject([{ login: 'alice' }]);
    expect(policy?.owners.packages.get('etcd')).toMatchObject([{ login: 'bob' }]);
    expect(policy?.graph.catalogOrder).toEqual(['dev', 'live']);
  });

  test('stays open after empty answers and without a terminal, and the output says what to write', async () => {
    const empty = await asked({});
    const none = await asked({}, false);
    expect([empty.questions.length, none.questions.length]).toEqual([3, 0]);
    expect(none.policy?.owners).toEqual(empty.policy?.owners);
    expect(none.policy?.graph.catalogOrder).toEqual([]);
    for (const { out } of [empty, none]) {
      expect(out).toContain(
        'no owner found for etcd: an admin must approve their changes; to name owners, write into the policy: owners:',
      );
      expect(out).toContain('catalogs without an order: dev, live;');
      expect(out).toContain('add admins to the policy');
    }
  });

  test('versions of the platform have an order, and named owners are not asked for', async () => {
    const known = {
      'catalogs/dev/etcd/catalog.yaml': null,
      'catalogs/live/etcd/catalog.yaml': null,
      'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
      'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
      'operators/etcd/ci.yaml': 'reviewers: [bob]\n',
    };
    const { questions, out } = await asked({}, true, known);
    expect(questions.map((question) => question.includes('everything?'))).toEqual([true]);
    expect(out).not.toContain('no owner found');
  });
});

test('writes nothing where only people know which catalogs are published, and takes the lines that it shows', async () => {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const files = {
    'current/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
    'next/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
  };
  repository.git('reset', '--hard', '--quiet', repository.commit(files));
  const refused = await portolan(repository.directory, 'setup', '--admin', 'alice');
  expect(refused.exit).toBe(2);
  expect(refused.err).toContain('current and next both define package etcd');
  expect(refused.err).toContain('\n    current/etcd/catalog.yaml: etcd\n');
  expect(existsSync(join(repository.directory, '.github'))).toBe(false);
  const lines = refused.err.split('\n').map((line) => line.trim());
  const policy = lines.slice(lines.indexOf('apiVersion: portolan/v1alpha1'), -1).join('\n');
  const { policy: read, findings } = readPolicy(Buffer.from(policy));
  expect([findings, read === undefined]).toEqual([[], false]);
  repository.git(
    'reset',
    '--hard',
    '--quiet',
    repository.commit({ ...files, '.github/portolan.yaml': policy }),
  );
  const accepted = await portolan(repository.directory, 'setup', '--admin', 'alice', '--last', '0');
  expect(accepted.exit).toBe(0);
});
