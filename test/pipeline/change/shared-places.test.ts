/** Two catalogs that are published to one place would take its tag from each other: said, and refused. */

import { expect, onTestFinished, test } from 'vitest';
import { oneRegistry } from '../../../catalog/reference.ts';
import { sharedPlaces } from '../../../pipeline/change/shared-places.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { POLICY_PATH, policyAt } from '../../../pipeline/policy/read-policy.ts';
import { folder } from '../../fakes/folder.ts';
import { catalogOf, POLICY } from '../../fakes/gate.ts';
import { type Files, makeRepository, type TestRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

const CATALOGS: Files = {
  'catalogs/v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']),
};

/** A policy that publishes, with the catalogs' places as lines of YAML. */
function publishing(...lines: readonly string[]): string {
  return `${POLICY}publish:\n  catalogs:\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

function repositoryWith(policy: string): TestRepository {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  repository.commit({ ...CATALOGS, [POLICY_PATH]: policy }, { branch: 'base' });
  return repository;
}

async function shared(...lines: readonly string[]) {
  const { directory } = repositoryWith(publishing(...lines));
  const repository = await openRepository(directory, { searchPath: process.env['PATH'] });
  try {
    const [tip = ''] = await repository.resolve(['base']);
    const { policy } = await policyAt(repository.objects, tip);
    return policy && (await sharedPlaces(repository.objects, tip, policy));
  } finally {
    await repository.close();
  }
}

test('an image without {catalog}: both catalogs are named, and the line', async () => {
  expect(await shared("'*': {image: quay.io/sea/catalog:latest}")).toEqual([
    {
      rule: 'policy/shared-place',
      severity: 'error',
      message:
        'v4.19 and v4.20 are all published to quay.io/sea/catalog:latest, expected a different image for each',
      location: { file: POLICY_PATH, line: POLICY.split('\n').length + 2, column: 18 },
      hint: 'use the placeholder {catalog}, for example quay.io/my-org/catalog:{catalog}',
      catalogs: ['v4.19', 'v4.20'],
    },
  ]);
});

test.each([
  ['a further tag', ["'*': {image: 'q.io/c:{catalog}', also: ['q.io/c:new-{catalog}', 'q.io/c:latest']}"]],
  ['the image for OLM v1', ["'*': {image: 'q.io/c:{catalog}', slim: 'q.io/slim:x'}"]],
  [
    "another catalog's image",
    ["v4.19: {image: 'q.io/c:x'}", "'*': {image: 'q.io/c:{catalog}', also: ['q.io/c:x']}"],
  ],
  ['a tag that is left out', ["v4.19: {image: 'q.io/c'}", "v4.20: {image: 'q.io/c:latest'}"]],
])('%s in common', async (_, lines) => {
  expect(await shared(...lines)).toMatchObject([{ catalogs: ['v4.19', 'v4.20'] }]);
});

test.each(['Q.io', 'q.io:443', 'q.io:0443'])('89: %s is q.io', async (host) => {
  const places = [`v4.19: {image: '${host}/c:x'}`, "v4.20: {image: 'q.io/c:x'}"];
  expect(await shared(...places)).toMatchObject([{ catalogs: ['v4.19', 'v4.20'] }]);
});

test('89: an address of IPv6 keeps its zeros, and its port has none', () => {
  expect(oneRegistry('[2001:0db8::1]:0443')).toBe('[2001:0db8::1]');
  expect(oneRegistry('[2001:0db8::1]:05000')).toBe('[2001:0db8::1]:5000');
});

test.each([
  "image: 'q.io/c:{catalog}', slim: 'Q.io/c:{catalog}'",
  "image: 'q.io/c:x', also: ['q.io/c:y'], slim: 'q.io/c:y'",
])('one tag for both images of a catalog: %s', async (target) => {
  const found = await shared(`v4.20: {${target}}`);
  expect(found).toMatchObject([{ rule: 'policy/shared-place', catalogs: ['v4.20'] }]);
  expect(found?.[0]?.message).toContain(
    ' as its image and as its image for OLM v1: the last one takes the tag',
  );
});

test('the command line refuses one place for both images', async () => {
  const { directory } = repositoryWith(publishing("'*': {image: 'q.io/c:{catalog}'}"));
  const place = `oci:${folder()}`;
  const words = ['publish', '--commit', 'base', '--catalog', 'v4.20', '--out', folder(), '--to', place];
  expect(await portolan(directory, ...words, '--slim', place)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('the one for OLM v1 has no server'),
  });
});

test.each([
  ['places of their own', ["'*': {image: 'q.io/c:{catalog}', also: ['q.io/{catalog}:latest']}"]],
  ['one image twice at one place', ["v4.20: {image: 'q.io/c:x', also: ['q.io/c:x'], slim: 'q.io/c:slim'}"]],
  ['one catalog that is published', ['v4.20: {image: q.io/c:latest}']],
  ['a name that is none', ["'*': {image: 'q.io/{catalog}:a b'}"]],
])('%s: nothing is shared', async (_, lines) => {
  expect(await shared(...lines)).toEqual([]);
});

test('the command line publishes neither, unless a place is named', async () => {
  const { directory } = repositoryWith(publishing("'*': {image: quay.io/sea/catalog:latest}"));
  const words = ['publish', '--commit', 'base', '--catalog', 'v4.20', '--out', folder()];
  expect(await portolan(directory, ...words)).toMatchObject({
    exit: 1,
    err: expect.stringContaining('v4.19 and v4.20 are all published to quay.io/sea/catalog:latest'),
  });
  expect((await portolan(directory, ...words, '--to', `oci:${folder()}`)).exit).toBe(0);
});

test('a pull request that brings it fails, by the policy or by the catalog; what was there is known', async () => {
  const { directory, commit, git } = repositoryWith(publishing("v4.20: {image: 'q.io/c:latest'}"));
  const base = git('rev-parse', 'base').trim();
  commit(
    { [POLICY_PATH]: publishing("'*': {image: 'q.io/c:latest'}") },
    { parents: [base], branch: 'policy' },
  );
  commit(
    { 'catalogs/v4.21/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0']) },
    { parents: [git('rev-parse', 'policy').trim()], branch: 'catalog' },
  );
  const findingsOf = async (from: string, head: string) => {
    const { out } = await portolan(directory, 'check', '--base', from, '--head', head, '--format', 'json');
    return JSON.parse(out);
  };
  const rule = 'policy/shared-place';
  expect((await findingsOf('base', 'policy')).findings).toContainEqual(expect.objectContaining({ rule }));
  const withThird = await findingsOf('policy', 'catalog');
  expect(withThird.findings).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('v4.19 and v4.20 and v4.21') }),
  );
  commit({ 'README.md': 'words' }, { parents: [git('rev-parse', 'policy').trim()], branch: 'words' });
  const unchanged = await findingsOf('policy', 'words');
  expect(unchanged.findings).toEqual([]);
  expect(unchanged.known).toContainEqual(expect.objectContaining({ rule }));
});
