import { beforeAll, describe, expect, test } from 'vitest';
import {
  accountOf,
  orphansOf,
  type Rehearsal,
  rehearseMerges,
} from '../../../../pipeline/check/rehearsal/rehearsal.ts';
import { diffRevisions } from '../../../../pipeline/cli/repository/compare.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { rehearsalPage } from '../../../../pipeline/report/page/rehearsal-page.ts';
import { rehearsalText } from '../../../../pipeline/report/rehearsal-text.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';

const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [amy]}\n';

const etcd = (versions: readonly string[], channel = 'stable'): Files => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions, channel),
});

/** Merges by an owner, by a stranger, one that strands, one of the documentation, and one by nobody known. */
async function rehearsed(policy: string, count = 10): Promise<Rehearsal> {
  const git = makeRepository();
  let last = git.commit({ 'operators/etcd/ci.yaml': 'reviewers: [bob]\n', ...etcd(['1.0.0', '1.1.0']) });
  const merge = (files: Files, author: string, message: string): void => {
    last = git.commit(files, { parents: [last], author, message });
  };
  merge(etcd(['1.0.0', '1.1.0', '1.2.0']), 'bob', 'etcd 1.2.0');
  merge(etcd(['1.0.0', '1.1.0', '1.2.0', '1.3.0']), 'carol', 'etcd 1.3.0');
  merge(etcd(['1.2.0', '1.3.0']), 'bob', 'drop old versions <script>alert(1)</script>\u001b[31m');
  merge({ 'README.md': 'hello' }, 'amy', 'docs');
  merge(etcd(['1.2.0', '1.3.0', '1.4.0']), 'some body', 'etcd 1.4.0');
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  try {
    const given = { path: 'given', bytes: Buffer.from(policy) };
    return await rehearseMerges(repository, { head: 'HEAD', count, policy: given });
  } finally {
    await repository.close();
    git.remove();
  }
}

describe('a rehearsal', () => {
  let rehearsal: Rehearsal;
  beforeAll(async () => {
    rehearsal = await rehearsed(HEAD);
  });

  test('says of each merge what the gate would have done, the latest first', () => {
    expect(rehearsal.merges.map(({ author, state }) => [author, state])).toEqual([
      [undefined, 'success'],
      ['amy', 'success'],
      ['bob', 'failure'],
      ['carol', 'pending'],
      ['bob', 'success'],
    ]);
  });

  test('leaves presets to the gates that they stand for, which have checked the merges themselves', async () => {
    const withPreset = await rehearsed(`${HEAD}presets: [konflux]\n`);
    expect(withPreset.merges.map(({ state }) => state)).toEqual(rehearsal.merges.map(({ state }) => state));
  });

  test('names who would have been asked, and which clusters would have been stranded', () => {
    expect(rehearsal.people.map(({ login }) => login)).toContain('bob');
    expect(rehearsal.merges[3]?.asked).toEqual(['bob']);
    expect(rehearsal.stranded).toEqual([
      {
        month: '2023-11',
        merges: 1,
        packages: [{ package: 'etcd', versions: expect.arrayContaining(['1.0.0']), catalogs: ['v4.20'] }],
      },
    ]);
  });

  test('lists what would have waited, and for whom', () => {
    const page = rehearsalPage({ rehearsal, name: 'x', policy: { source: 'x', text: '' } });
    expect(page).toContain('1 merge that cannot pass at once');
    expect(page).toContain('etcd 1.3.0 <small>by carol</small></td><td>needs approval from @bob');
  });

  test('the page says once what is said of several catalogs', () => {
    const [merge] = rehearsal.merges;
    const finding = {
      rule: 'graph/package-removed',
      severity: 'error',
      message: 'package "etcd" is removed',
      location: { file: 'x', line: 1, column: 1 },
    } as const;
    const errors = [
      { ...finding, catalogs: ['v4.19', 'v4.20'] },
      { ...finding, catalogs: ['v4.21'] },
      { ...finding, message: 'package "ferry" is removed' },
    ];
    const merges = merge ? [{ ...merge, state: 'failure' as const, errors }] : [];
    const page = rehearsalPage({
      rehearsal: { ...rehearsal, merges },
      name: 'x',
      policy: { source: 'x', text: '' },
    });
    expect(page.match(/<summary>3 errors<.*?<\/details>/)?.[0].match(/<li>/g)).toHaveLength(2);
    expect(page).toContain(
      '"etcd&quot; is removed <small>v4.19, v4.20, v4.21</small>'.replace('"', '&quot;'),
    );
  });

  test('says where the policy names nobody who could approve, and how to name admins', async () => {
    expect(rehearsalText(rehearsal)).not.toContain('names nobody');
    expect(rehearsalText(rehearsal)).not.toContain('--admin');
    const without = await rehearsed(HEAD.replace('[amy]', '[]'));
    expect(orphansOf(without.merges).map(({ subject }) => subject)).toEqual(['docs']);
    expect(rehearsalText(without)).toContain(
      '1 merge would have needed an approval, but the policy names nobody who could give it\n' +
        '  to name admins where there is no policy: portolan rehearse --admin LOGIN,LOGIN\n',
    );
    const page = rehearsalPage({ rehearsal: without, name: 'x', policy: { source: 'x', text: '' } });
    expect(page).toContain('portolan rehearse --admin LOGIN,LOGIN');
  });

  test('counts how often each rule fired', () => {
    const stranding = rehearsal.rules.find(({ rule }) => rule === 'graph/strands-installed-v0');
    expect(stranding).toMatchObject({ merges: 1, warnings: 0 });
  });

  test('proposes no setting that silences what one merge did', () => {
    expect(rehearsal.intended).toEqual({ policy: '', lines: [] });
  });

  test('can be of the latest merges only', async () => {
    expect((await rehearsed(HEAD, 2)).merges.map(({ subject }) => subject)).toEqual(['etcd 1.4.0', 'docs']);
  });

  test('prints text of the repository as it is, and nothing that a terminal or a browser acts on', () => {
    const text = rehearsalText(rehearsal);
    expect(text.split('\n')[0]).toBe(
      'of 5 merges (2023-11-14 to 2023-11-14), 3 pass at once, 1 passes after an approval, 1 fails',
    );
    expect(text).not.toContain('\u001b');
    expect(text).toContain('\n  Git does not record reviews: ');
    expect(text).toContain('\n  No registry was contacted: ');
    const page = rehearsalPage({ rehearsal, name: '<b>', policy: { source: '<i>', text: '<u>' } });
    expect(page).toContain('drop old versions &lt;script&gt;');
    for (const raw of ['<script', '<i>', '<u>', '\u001b']) expect(page).not.toContain(raw);
    expect(page).toContain("default-src 'none'");
  });

  test('needs a policy that can be read', async () => {
    await expect(rehearsed('kind: x\n')).rejects.toThrow('the policy cannot be read');
  });
});

test.each([
  ['Merge pull request #7 from carol/branch', 'Bob B', 'b@example.com', { login: 'carol', id: undefined }],
  ['x (#7)', 'Bob B', '12+bob@users.noreply.github.com', { login: 'bob', id: 12 }],
  ['x', 'bot[bot]', 'x@example.com', { login: 'bot[bot]', id: undefined, bot: true }],
  ['x', 'contributor-001', 'x@example.com', { login: 'contributor-001', id: undefined }],
  ['x', 'Bob B', 'b@example.com', undefined],
])('who wrote %j by %j <%s>', (subject, name, email, expected) => {
  expect(accountOf({ subject, author: { name, email } })).toEqual(expected);
});

test('checks merges from before catalogs were moved under the layout of their time', async () => {
  const git = makeRepository();
  const old = (versions: readonly string[]): Files => ({
    'fbc/etcd/catalog.yaml': catalogOf('etcd', versions, 'stable'),
  });
  let last = git.commit({ 'README.md': 'x', ...old(['1.0.0', '1.1.0']) });
  const merge = (files: Files, message: string): void => {
    last = git.commit(files, { parents: [last], author: 'amy', message });
  };
  merge(old(['1.0.0', '1.1.0', '1.2.0']), 'harmless');
  merge(old(['1.2.0']), 'harmful');
  merge({ 'fbc/etcd/catalog.yaml': null, ...etcd(['1.2.0']) }, 'move');
  merge(etcd(['1.2.0', '1.3.0']), 'after the move');
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const given = { path: 'given', bytes: Buffer.from(HEAD) };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(merges.map(({ subject, state }) => [subject, state])).toEqual([
    ['after the move', 'success'],
    ['harmful', 'failure'],
    ['harmless', 'success'],
  ]);
  expect(merges[1]?.errors.map(({ rule }) => rule)).toContain('graph/strands-installed-v0');
  expect(unchecked.map(({ what, why }) => [what.slice(11), why.split(':')[0]])).toEqual([
    ['move', 'the layout at the time is not clear'],
  ]);
});

test('a diff of commits without a policy finds catalogs outside the default folders', async () => {
  const git = makeRepository();
  const at = (versions: readonly string[]): Files => ({
    'README.md': 'x',
    'fbc/v4.20/catalog.yaml': catalogOf('etcd', versions, 'stable'),
  });
  const base = git.commit(at(['1.0.0']));
  const head = git.commit(at(['1.0.0', '1.1.0']), { parents: [base] });
  const repository = await openRepository(git.directory);
  const { packages, diffs } = await diffRevisions(repository, { base, head, today: '2026-01-01' });
  await repository.close();
  git.remove();
  expect(packages.length).toBe(1);
  expect(diffs).toMatchObject([{ package: 'etcd', catalogs: ['v4.20'] }]);
});

test('does not count a merge as failed by digests that only a registry can confirm', async () => {
  const git = makeRepository();
  const path = 'catalogs/v4.20/etcd/catalog.yaml';
  const text = catalogOf('etcd', ['1.0.0', '1.1.0']);
  const image = /quay\.io\/org\/etcd@sha256:(?!000)\w+/;
  const pinned = (letter: string): string =>
    text.replace(image, `quay.io/org/etcd@sha256:${letter.repeat(64)}`);
  let last = git.commit({ 'README.md': 'x', [path]: text.replace(image, 'quay.io/org/etcd:v1.1.0') });
  for (const [message, content] of [
    ['pin', pinned('a')],
    ['other image', pinned('b')],
  ] as const)
    last = git.commit({ [path]: content }, { parents: [last], author: 'amy', message });
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const given = { path: 'given', bytes: Buffer.from(HEAD) };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(merges.map(({ subject, state }) => [subject, state])).toEqual([['other image', 'failure']]);
  expect(unchecked.map(({ what, why }) => [what.slice(11), why])).toEqual([
    ['pin', 'tags became digests, and no registry was asked which digests the tags name'],
  ]);
});

test('does not count a merge as failed by blobs that were in no catalog at its time', async () => {
  const git = makeRepository();
  const part = 'schema: olm.channel\npackage: etcd\nname: beta\nentries: [{name: etcd.v1.0.0}]\n';
  let last = git.commit({ 'README.md': 'x', ...etcd(['1.0.0']) });
  for (const [path, content] of [
    ['parts/beta.yaml', part],
    ['elsewhere/quay/catalog.yaml', catalogOf('quay', ['1.0.0'])],
  ] as const)
    last = git.commit({ [path]: content }, { parents: [last], author: 'amy', message: path });
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const given = { path: 'given', bytes: Buffer.from(HEAD) };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(merges.map(({ subject, state }) => [subject, state])).toEqual([
    ['elsewhere/quay/catalog.yaml', 'success'],
  ]);
  expect(unchecked.map(({ what, why }) => [what.slice(11), why])).toEqual([
    [
      'parts/beta.yaml',
      'the layout at the time is not clear: parts/beta.yaml has blobs (channels or bundles of etcd, which a whole catalog elsewhere defines)',
    ],
  ]);
});

test.each([
  [
    'catalogs/v4.20/etcd',
    [['catalog becomes a link', 'the layout changes: catalog/etcd becomes a link to catalogs/v4.20/etcd']],
    [],
  ],
  ['docs', [], ['catalog becomes a link']],
])('does not count a merge as failed that links one catalog to another: %s', async (target, left, failed) => {
  const git = makeRepository();
  const content = catalogOf('etcd', ['1.0.0']);
  const base = git.commit({ 'docs/a.md': 'x', 'catalog/etcd/catalog.yaml': content, ...etcd(['1.0.0']) });
  const link = { mode: '120000', text: `../${target}` } as const;
  const last = git.commit(
    { 'catalog/etcd/catalog.yaml': null, 'catalog/etcd': link },
    { parents: [base], author: 'amy', message: 'catalog becomes a link' },
  );
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const text = `${HEAD}layout: {catalog: ['catalog/{package}/**', 'catalogs/{catalog}/{package}/**']}\n`;
  const given = { path: 'given', bytes: Buffer.from(text) };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(unchecked.map(({ what, why }) => [what.slice(11), why])).toEqual(left);
  expect(merges.filter(({ state }) => state === 'failure').map(({ subject }) => subject)).toEqual(failed);
});

test('does not count a merge as failed that makes a catalog of a template', async () => {
  const git = makeRepository();
  const template = `schema: olm.package\nname: quay\ndefaultChannel: stable\n---
schema: olm.channel\npackage: quay\nname: stable\nentries: [{name: quay.v1.0.0}]\n---
schema: olm.bundle\nimage: quay.io/org/quay:v1.0.0\n`;
  let last = git.commit({ 'README.md': 'x', 'veneer.yaml': template });
  for (const [message, content] of [
    ['render', catalogOf('etcd', ['1.0.0', '1.1.0'])],
    ['drop', catalogOf('etcd', ['1.1.0'])],
  ] as const)
    last = git.commit({ 'veneer.yaml': content }, { parents: [last], author: 'amy', message });
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const given = { path: 'given', bytes: Buffer.from(`${HEAD}layout: {catalog: ['veneer.yaml']}\n`) };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(merges.map(({ subject, state }) => [subject, state])).toEqual([['drop', 'failure']]);
  expect(unchecked.map(({ what }) => what.slice(11))).toEqual(['render']);
});

test('checks merges that rename the files of a catalog', async () => {
  const git = makeRepository();
  const at = (file: string, versions: readonly string[]): Files => ({
    [`fbc/etcd/${file}`]: catalogOf('etcd', versions, 'stable'),
  });
  let last = git.commit({ 'README.md': 'x', ...at('index.yaml', ['1.0.0', '1.1.0']) });
  for (const [message, files] of [
    ['rename', { 'fbc/etcd/index.yaml': null, ...at('catalog.yaml', ['1.0.0', '1.1.0']) }],
    ['rename and drop', { 'fbc/etcd/catalog.yaml': null, ...at('operator.yaml', ['1.1.0']) }],
  ] as const)
    last = git.commit(files, { parents: [last], author: 'amy', message });
  git.git('reset', '--hard', '--quiet', last);
  const repository = await openRepository(git.directory);
  const given = {
    path: 'given',
    bytes: Buffer.from(`${HEAD}layout: {catalog: ['fbc/{package}/operator.yaml']}\n`),
  };
  const { merges, unchecked } = await rehearseMerges(repository, { head: 'HEAD', count: 10, policy: given });
  await repository.close();
  git.remove();
  expect(unchecked).toEqual([]);
  expect(merges.map(({ subject, state }) => [subject, state])).toEqual([
    ['rename and drop', 'failure'],
    ['rename', 'success'],
  ]);
  expect(merges[0]?.errors.map(({ rule }) => rule)).toContain('graph/strands-installed-v0');
  expect(merges[0]?.errors.map(({ rule }) => rule)).not.toContain('graph/package-removed');
});
