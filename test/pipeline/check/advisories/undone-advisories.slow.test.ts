/** Advisories in a pull request: who may change them, and what must not undo them. */
import { afterEach, expect, test } from 'vitest';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';
const ADVISORY = 'advisories/ETCD-1.yaml';
const YANK = `apiVersion: portolan/v1alpha1
kind: Advisory
package: etcd
versions: ['1.1.0']
reason: {kind: withdrawn}
action: yank
message: 'use 1.2.0'
`;

/** A channel of versions, with the edges that are written behind them. */
function catalog(...entries: readonly (readonly [version: string, edges: string])[]): string {
  const list = entries.map(
    ([version, edges]) => `- {name: etcd.v${version}${edges === '' ? '' : `, ${edges}`}}\n`,
  );
  const bundles = entries.map(
    ([version]) =>
      `---\nschema: olm.bundle\npackage: etcd\nname: etcd.v${version}\nimage: quay.io/example/etcd@sha256:${version.replaceAll('.', '').padEnd(64, 'a')}\nproperties:\n- {type: olm.package, value: {packageName: etcd, version: ${version}}}\n`,
  );
  return `---\nschema: olm.package\nname: etcd\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: etcd\nname: stable\nentries:\n${list.join('')}${bundles.join('')}`;
}

const OLD = catalog(['1.2.0', 'replaces: etcd.v1.1.0'], ['1.1.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']);
const YANKED = catalog(['1.2.0', 'replaces: etcd.v1.0.0, skips: [etcd.v1.1.0]'], ['1.0.0', '']);
const NEXT = 'replaces: etcd.v1.2.0';
const BELOW = [
  ['1.2.0', 'replaces: etcd.v1.0.0, skips: [etcd.v1.1.0]'],
  ['1.0.0', ''],
] as const;

let repository: TestRepository;
afterEach(() => repository.remove());

/** The report of a change on top of a repository in which the advisory is applied. */
async function checked(files: Readonly<Record<string, string | null>>) {
  repository = makeRepository();
  const old = repository.commit({ [FILE]: OLD });
  const base = repository.commit({ [FILE]: YANKED, [ADVISORY]: YANK }, { parents: [old] });
  const head = repository.commit(files, { parents: [base], branch: 'head' });
  const opened = await openRepository(repository.directory);
  try {
    const report = await checkPullRequest(opened, { base, head, today: '2026-11-01' });
    return report.findings.filter(({ rule }) => rule.startsWith('advisory/'));
  } finally {
    await opened.close();
  }
}

test('a merge that brings a yanked version back fails', async () => {
  const [found, ...more] = await checked({ [FILE]: OLD });
  expect(more).toEqual([]);
  expect(found).toMatchObject({
    rule: 'advisory/undone',
    severity: 'error',
    message:
      'the bundle "etcd.v1.1.0" of package "etcd" is back, although the advisory ETCD-1 (yank 1.1.0) removed it',
    package: 'etcd',
    catalogs: ['v4.20'],
    location: { file: FILE },
  });
});

test('a merge that takes the upgrade path from clusters with the yanked version fails', async () => {
  const found = await checked({ [FILE]: catalog(['1.2.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']) });
  expect(found.map(({ rule }) => rule)).toEqual(['advisory/undone']);
  expect(found[0]?.message).toContain('no longer does what the advisory ETCD-1 (yank 1.1.0) asks');
});

/** The rules of what is found in the last of several states. */
async function rulesAfter(...states: readonly Files[]): Promise<string[]> {
  repository = makeRepository();
  const commits: string[] = [];
  for (const files of states)
    commits.push(repository.commit(files, { parents: commits.slice(-1), branch: 'head' }));
  const [base = '', head = ''] = commits.slice(-2);
  const opened = await openRepository(repository.directory);
  try {
    const { findings } = await checkPullRequest(opened, { base, head, today: '2026-11-01' });
    return findings.flatMap(({ rule, severity }) => (severity === 'error' ? rule : []));
  } finally {
    await opened.close();
  }
}

const ELSEWHERE = 'catalogs/v4.20/other/catalog.yaml';
const OTHER = catalog(['1.0.0', '']).replaceAll('etcd', 'other');
/** A channel with one version of etcd, for the folder of another package. */
const ALSO = catalog(['1.1.0', ''])
  .replace(/^---\nschema: olm.package\n.*\n.*\n/, '')
  .replace('stable', 'beta');

test('a yanked version that comes back in a folder of another name fails', async () => {
  const [old, yanked] = [{ [ELSEWHERE]: OTHER }, { [FILE]: YANKED, [ADVISORY]: YANK }];
  const back = await rulesAfter({ ...old, [FILE]: OLD }, yanked, { [ELSEWHERE]: `${OTHER}${ALSO}` });
  expect(back).toEqual(['advisory/undone']);
  repository.remove();
  const file = 'catalogs/v4.20/etcd-operator/catalog.yaml';
  const misnamed = await rulesAfter({ [file]: OLD }, { [file]: YANKED, [ADVISORY]: YANK }, { [file]: OLD });
  expect(misnamed).toEqual(['advisory/undone']);
  repository.remove();
  // Another package in that folder is nobody's advisory.
  const other = ALSO.replaceAll('etcd', 'other')
    .replaceAll('1.1.0', '1.0.0')
    .replace(/---\nschema: olm.bundle[\s\S]*/, '');
  expect(await rulesAfter({ ...old, [FILE]: OLD }, yanked, { [ELSEWHERE]: `${OTHER}${other}` })).toEqual([]);
});

test('the edit of an advisory is no excuse for what the merge changes of the package in another folder', async () => {
  const head = `${YANK.replace('1.1.0', '1.2.0')}withoutUpgradePath: [etcd.v1.2.0]\n`;
  const edit = catalog(['1.1.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']);
  const beta = ALSO.replace(/---\nschema: olm.bundle[\s\S]*/, '');
  const base = { [FILE]: OLD, [ADVISORY]: head, [ELSEWHERE]: `${OTHER}${beta}` };
  expect(await rulesAfter(base, { [FILE]: edit, [ELSEWHERE]: OTHER })).toContain('graph/head-regression');
  repository.remove();
  expect(await rulesAfter(base, { [FILE]: edit })).toEqual([]);
});

test('advisories that are too many to be read, or to be planned for one pull request, fail it', async () => {
  const many = (count: number, of = YANK) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`advisories/E-${i}.yaml`, of]));
  const other = YANK.replace('package: etcd', 'package: other');
  const changed = { [FILE]: `${OLD}# again\n` };
  expect(await rulesAfter({ [FILE]: OLD, ...many(2001, other) }, changed)).toEqual(['advisory/file']);
  repository.remove();
  expect(await rulesAfter({ [FILE]: OLD }, { ...many(51), ...changed })).toEqual(['advisory/file']);
  repository.remove();
  expect(await rulesAfter({ [FILE]: OLD }, { ...many(5), ...changed })).toEqual([]);
});

test('a merge that keeps to the advisory passes', async () => {
  expect(await checked({ [FILE]: catalog(['1.3.0', NEXT], ...BELOW) })).toEqual([]);
  repository.remove();
  expect(await checked({ [ADVISORY]: null, [FILE]: OLD })).toEqual([]);
});

test('an advisory that cannot be read fails the pull request that writes it', async () => {
  const found = await checked({ 'advisories/ETCD-2.yaml': YANK.replace('yank', 'remove') });
  expect(found.map(({ rule, location }) => [rule, location.file, location.line])).toEqual([
    ['advisory/value', 'advisories/ETCD-2.yaml', 6],
  ]);
});

/** The errors of a pull request that writes a catalog, with an advisory on the base branch or beside it. */
async function errorsOf(advisory: string, after: string, isBeside = false): Promise<string[]> {
  repository = makeRepository();
  const written = { [ADVISORY]: advisory };
  const base = repository.commit({ [FILE]: OLD, ...(isBeside ? {} : written) });
  const head = repository.commit(
    { [FILE]: after, ...(isBeside ? written : {}) },
    { parents: [base], branch: 'head' },
  );
  const opened = await openRepository(repository.directory);
  const { findings } = await checkPullRequest(opened, { base, head, today: '2026-11-01' });
  await opened.close();
  repository.remove();
  return findings.flatMap(({ rule, severity }) => (severity === 'error' ? rule : []));
}

test('the edit of an advisory passes, with what it does to clusters as warnings; any other edit fails', async () => {
  const head = `${YANK.replace('1.1.0', '1.2.0')}withoutUpgradePath: [etcd.v1.2.0]\n`;
  const edit = catalog(['1.1.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']);
  expect(await errorsOf(head, edit)).toEqual([]);
  // Nobody is asked to approve it.
  expect(await errorsOf(head, edit, true)).toContain('graph/head-regression');
  expect(await errorsOf(YANK, edit)).toContain('graph/head-regression');
  expect(await errorsOf(head, catalog(['1.1.0', ''], ['1.0.0', 'replaces: etcd.v0.9.0']))).not.toEqual([]);
  expect(await errorsOf(head.replace(/withoutUpgradePath.*\n/, ''), edit)).toContain('graph/head-regression');
});

test('an owner who strands versions needs a second person, although an advisory on the base branch asks for the edit', async () => {
  const policy =
    'apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [ada], packages: {etcd: [bob, carol]}}\n';
  const head = `${YANK.replace('1.1.0', '1.2.0')}withoutUpgradePath: [etcd.v1.2.0]\n`;
  const edit = catalog(['1.1.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']);
  repository = makeRepository();
  const files = { [FILE]: OLD, [ADVISORY]: head, '.github/portolan.yaml': policy };
  const base = repository.commit(files);
  const commit = repository.commit({ [FILE]: edit }, { parents: [base], branch: 'head' });
  const opened = await openRepository(repository.directory);
  const people = { author: { login: 'bob', id: 1 }, pusher: { login: 'bob', id: 1 }, commits: undefined };
  const report = await checkPullRequest(opened, {
    base,
    head: commit,
    today: '2026-11-01',
    people: { ...people, reviews: [], holds: [] },
  });
  await opened.close();
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(JSON.stringify(report.authority)).toContain('removes versions that the policy keeps');
});

const PROGRAM = { login: 'release-bot', id: 7, bot: true };

/** What is decided about a program that may prune and opens the edit of a yanked head, with the advisory on the base or beside. */
async function decidedForProgram(
  edit: string,
  { isBeside, approver }: { readonly isBeside: boolean; readonly approver?: string },
) {
  const policy =
    'apiVersion: portolan/v1alpha1\nkind: Portolan\nowners: {admins: [ada], packages: {etcd: [bob, carol]}}\nautomation:\n' +
    "- {id: 7, login: release-bot, packages: ['*'], may: [add-entry, edit-graph, prune], maxPackages: 1}\n";
  const advisory = `${YANK.replace('1.1.0', '1.2.0')}withoutUpgradePath: [etcd.v1.2.0]\n`;
  repository = makeRepository();
  const files = { [FILE]: OLD, '.github/portolan.yaml': policy };
  const base = repository.commit({ ...files, ...(isBeside ? {} : { [ADVISORY]: advisory }) });
  const written = { [FILE]: edit, ...(isBeside ? { [ADVISORY]: advisory } : {}) };
  const head = repository.commit(written, { parents: [base], branch: 'head' });
  const opened = await openRepository(repository.directory);
  const review = { state: 'approved' as const, commit: head };
  const reviews = approver === undefined ? [] : [{ ...review, author: { login: approver, id: 1 } }];
  const people = { author: PROGRAM, pusher: PROGRAM, commits: undefined, reviews, holds: [] };
  const report = await checkPullRequest(opened, { base, head, today: '2026-11-01', people });
  await opened.close();
  expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  return report.authority;
}

test('a program that may prune does not make the edit of an advisory alone: without the advisory the check stops it', async () => {
  const edit = catalog(['1.1.0', 'replaces: etcd.v1.0.0'], ['1.0.0', '']);
  const alone = await decidedForProgram(edit, { isBeside: false });
  expect(alone).toMatchObject({ decision: 'needs' });
  repository.remove();
  const approved = await decidedForProgram(edit, { isBeside: false, approver: 'ada' });
  expect(approved).toMatchObject({ decision: 'allow' });
  repository.remove();
  const beside = await decidedForProgram(edit, { isBeside: true });
  expect(beside?.missing?.flatMap(({ subjects }) => subjects)).toContain('advisory');
  repository.remove();
  expect(await decidedForProgram(edit, { isBeside: true, approver: 'bob' })).toMatchObject({
    decision: 'needs',
  });
});

test('a program changes edges alone where no advisory makes an error milder', async () => {
  const ranged = OLD.replace('replaces: etcd.v1.1.0', 'replaces: etcd.v1.1.0, skipRange: "=1.0.0"');
  expect(await decidedForProgram(ranged, { isBeside: false })).toMatchObject({ decision: 'allow' });
});

test('files of advisories are a class of change of their own', async () => {
  const { classifyChange } = await import('../../../../pipeline/change/classify.ts');
  const { readPolicy } = await import('../../../../pipeline/policy/read-policy.ts');
  repository = makeRepository();
  const base = repository.commit({ [FILE]: OLD });
  const merged = repository.commit({ [ADVISORY]: YANK }, { parents: [base] });
  const opened = await openRepository(repository.directory);
  const { policy } = readPolicy(undefined);
  if (!policy) throw new Error('no policy');
  const { areas } = await classifyChange(opened.objects, { base, merged }, policy);
  await opened.close();
  expect(areas.map(({ area, paths }) => [area, paths])).toEqual([['advisory', [ADVISORY]]]);
  expect(policy.approval.required.get('advisory')).toEqual({ owners: 0, admins: 1 });
});

test('a file of the package that cannot be read does not end the check, and can be removed', async () => {
  const odd = 'catalogs/v4.20/etcd/odd.yaml';
  for (const file of [
    { mode: '160000', id: 'a'.repeat(40) },
    { mode: '120000', text: 'other.yaml' },
  ] as const) {
    const [old, yanked] = [{ [FILE]: OLD }, { [FILE]: YANKED, [ADVISORY]: YANK }];
    expect(await rulesAfter(old, yanked, { [odd]: file })).toContain('path/mode');
    repository.remove();
    expect(await rulesAfter(old, { ...yanked, [odd]: file }, { [odd]: null })).toEqual([]);
    repository.remove();
  }
  const limits = {
    '.github/portolan.yaml': 'apiVersion: portolan/v1alpha1\nkind: Portolan\nlimits: {fileBytes: 2000}\n',
  };
  const large = { [odd]: `# ${'x'.repeat(3000)}\n` };
  const yanked = { ...limits, [FILE]: YANKED, [ADVISORY]: YANK };
  expect(await rulesAfter({ [FILE]: OLD }, { ...yanked, ...large }, { [odd]: null })).toEqual([]);
});
