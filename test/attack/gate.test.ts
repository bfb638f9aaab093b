/**
 * Attacks on the gate that git objects, owners and reviews decide. Numbers are those of
 * the design's list; those that need GitHub's events and API are tested with them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classifyChange } from '../../pipeline/change/classify.ts';
import { mergedTree } from '../../pipeline/git/merge.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { POLICY_PATH, policyAt } from '../../pipeline/policy/read-policy.ts';
import { applyWaivers } from '../../pipeline/policy/waiver.ts';
import {
  BASE,
  bundle,
  catalogOf,
  documents,
  type Gate,
  type Judged,
  openGate,
  PEOPLE,
  POLICY,
  type PullRequest,
} from '../fakes/gate.ts';
import type { Files } from '../fakes/repository.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

const judge = (pullRequest: PullRequest): Promise<Judged> => gate.judge(pullRequest);
const etcd = (...versions: string[]): Files => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});
const quay = (...versions: string[]): Files => ({
  'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0', '3.1.0', ...versions]),
});

describe('approvals', () => {
  test('6: an approval of other content says nothing of what was pushed since', async () => {
    const of = etcd('1.2.0');
    expect(
      (await judge({ head: of, reviews: [{ by: 'bob', state: 'approved', of }] })).decision.authority,
    ).toBe('allow');
    const { decision } = await judge({
      head: etcd('1.2.0', '6.6.6'),
      reviews: [{ by: 'bob', state: 'approved', of }],
    });
    expect(decision).toMatchObject({
      authority: 'needs',
      subjects: [{ reasons: expect.arrayContaining(['@bob approved different content']) }],
    });
  });

  test('6: an approval survives a push that does not touch what it approved', async () => {
    const of = etcd('1.2.0');
    const { decision } = await judge({
      author: 'carol',
      head: { ...of, ...quay('3.2.0') },
      reviews: [{ by: 'bob', state: 'approved', of }],
    });
    expect(decision.authority).toBe('allow');
  });

  test('6: a policy may pin approvals to the head', async () => {
    const of = etcd('1.2.0');
    const base = { [POLICY_PATH]: `${POLICY}approval: {pin: head}\n` };
    const reviews = [{ by: 'bob', state: 'approved', of }] as const;
    expect(
      (await judge({ base, author: 'carol', head: { ...of, ...quay('3.2.0') }, reviews })).decision.authority,
    ).toBe('needs');
  });

  test('7: an approval for one package says nothing of another that is added later', async () => {
    const base = { 'operators/quay/ci.yaml': 'reviewers: [bob]\n' };
    const of = etcd('1.2.0');
    const { decision } = await judge({
      base,
      head: { ...of, ...quay('6.6.6') },
      reviews: [{ by: 'bob', state: 'approved', of }],
    });
    expect(decision.subjects.map(({ subject, authority }) => `${subject}: ${authority}`)).toEqual([
      'package etcd: allow',
      'package quay: needs',
    ]);
  });

  test('6: an approval of changes to the root or the gate is of these very changes', async () => {
    for (const file of ['README.md', 'docs/x', '.github/workflows/x.yml']) {
      const of = { [file]: 'good' };
      const reviews = [
        { by: 'alice', state: 'approved', of },
        { by: 'amy', state: 'approved', of },
      ] as const;
      expect((await judge({ head: of, reviews })).decision.authority).toBe('allow');
      expect((await judge({ head: { [file]: 'evil' }, reviews })).decision.authority).toBe('needs');
      expect((await judge({ head: { ...of, [`${file}2`]: 'evil' }, reviews })).decision.authority).toBe(
        'needs',
      );
      // What was approved together is not approved in part.
      const both = reviews.map((review) => ({ ...review, of: { ...of, [`${file}2`]: 'guard' } }));
      expect((await judge({ head: of, reviews: both })).decision.authority).toBe('needs');
    }
  });

  test('6: an approval of a new package is of what brings it from the place of another, too', async () => {
    const own = { 'operators/newpkg/ci.yaml': 'reviewers: [bob]\n' };
    const template = (text: string): Files => ({
      ...own,
      'operators/etcd/catalog-templates/basic.yaml': `schema: olm.template.basic\nentries:\n- {schema: olm.package, name: newpkg, description: ${text}}\n`,
    });
    const bundled = (text: string): Files => ({
      ...own,
      'operators/etcd/2.0.0/metadata/annotations.yaml':
        'annotations: {operators.operatorframework.io.bundle.package.v1: newpkg}\n',
      'operators/etcd/2.0.0/manifests/csv.yaml': `kind: ${text}\n`,
    });
    for (const files of [template, bundled]) {
      const of = files('harmless');
      const reviews = [{ by: 'alice', state: 'approved', of }] as const;
      expect((await judge({ author: 'bob', head: of, reviews })).decision.authority).toBe('allow');
      expect((await judge({ author: 'bob', head: files('evil'), reviews })).decision).toMatchObject({
        authority: 'needs',
        needs: [{ who: 'admin', subjects: ['package newpkg'] }],
      });
    }
  });

  test('6: those who own the place of another own nothing of a new package that comes from there', async () => {
    const head = {
      'operators/etcd/catalog-templates/basic.yaml':
        'schema: olm.template.basic\nentries:\n- {schema: olm.package, name: newpkg}\n',
    };
    const base = { 'operators/etcd/OWNERS': 'approvers: [bob]\n' };
    const { change } = await judge({ author: 'bob', base, head });
    expect(change.packages.get('newpkg')).toMatchObject({
      owners: { identities: [] },
      ownersAfter: { identities: [] },
    });
  });

  test('6: a commit that can no longer be read approves nothing', async () => {
    const { decision } = await judge({
      head: etcd('1.2.0'),
      input: { reviews: [{ author: PEOPLE.bob, state: 'approved', commit: undefined, content: undefined }] },
    });
    expect(decision.authority).toBe('needs');
  });

  test('16: comments approve nothing, and the last decisive word counts', async () => {
    const head = etcd('1.2.0');
    const words = (
      ...states: ('approved' | 'changes-requested' | 'dismissed' | 'commented')[]
    ): Promise<Judged> => judge({ head, reviews: states.map((state) => ({ by: 'bob', state })) });
    expect((await words('commented')).decision.authority).toBe('needs');
    expect((await words('approved', 'commented')).decision.authority).toBe('allow');
    expect((await words('approved', 'changes-requested')).decision.authority).toBe('needs');
    expect((await words('approved', 'dismissed')).decision.authority).toBe('needs');
    expect((await words('changes-requested', 'approved')).decision.authority).toBe('allow');
  });

  test('16: programs approve nothing, even where they are named as owners', async () => {
    const base = { 'operators/etcd/ci.yaml': "reviewers: ['helper[bot]', bob]\n" };
    const reviews = [{ by: { login: 'helper[bot]', id: 5, bot: true }, state: 'approved' }] as const;
    expect((await judge({ base, head: etcd('1.2.0'), reviews })).decision.authority).toBe('needs');
  });
});

describe('what is judged', () => {
  test('3 and 11: policy and owners are those of the base branch, never the pull request’s own', async () => {
    const self = { ...etcd('1.2.0'), 'operators/etcd/ci.yaml': 'reviewers: [mallory]\n' };
    expect((await judge({ head: self, author: 'mallory' })).decision.authority).toBe('needs');
    const policy = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", '[mallory]') };
    expect((await judge({ head: policy, author: 'mallory' })).decision).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', count: 2 }],
    });
    expect(
      (await judge({ head: { ...policy, ...etcd('1.2.0') }, author: 'mallory' })).decision.authority,
    ).toBe('deny');
    const aliases = { OWNERS_ALIASES: 'aliases: {team: [mallory]}\n' };
    expect((await judge({ head: aliases, author: 'mallory' })).decision.authority).toBe('needs');
  });

  test('20: files of owners that are too large are judged, whoever brings them', async () => {
    const large = 'x @y\n'.repeat(220_000);
    for (const author of ['bob', 'mallory'] as const) {
      const head = { ...etcd('1.2.0'), 'docs/CODEOWNERS': large };
      expect((await judge({ author, head })).decision.headline).toContain(
        'policy changes need their own pull request',
      );
    }
    const { decision } = await judge({ author: 'bob', head: { 'operators/etcd/ci.yaml': `#${large}` } });
    expect(decision).toMatchObject({
      authority: 'deny',
      headline: expect.stringContaining(
        'cannot read the owners in operators/etcd/ci.yaml: it is larger than',
      ),
    });
  });

  test('11: a policy that is a link is no policy', async () => {
    const [base = ''] = gate.source.chain({
      ...BASE,
      [POLICY_PATH]: { mode: '120000', text: '../evil.yaml' },
      'evil.yaml': POLICY,
    });
    const repository = await openRepository(gate.source.directory, { searchPath: process.env['PATH'] });
    try {
      expect(await policyAt(repository.objects, base)).toMatchObject({
        policy: undefined,
        findings: [{ rule: 'policy/file' }],
      });
    } finally {
      await repository.close();
    }
  });

  test('8: what counts is the merge with the base branch as it is now', async () => {
    const { source } = gate;
    const root = source.commit(BASE, { branch: 'eight' });
    const head = source.commit({ 'operators/etcd/Makefile': 'x' }, { parents: [root], branch: 'eight-pr' });
    const base = source.commit(
      { 'operators/etcd/ci.yaml': 'reviewers: [carol]\n', 'README.md': 'moved on' },
      { parents: [root], branch: 'eight' },
    );
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    try {
      const { policy } = await policyAt(repository.objects, base);
      const merged = await mergedTree(repository, { base, head });
      if (!policy || merged.kind !== 'merged') throw new Error('no merge');
      const change = await classifyChange(repository.objects, { base, merged: merged.tree }, policy);
      expect(change.paths.map(({ path }) => path)).toEqual(['operators/etcd/Makefile']);
      expect(change.packages.get('etcd')?.owners.identities).toMatchObject([{ login: 'carol' }]);
    } finally {
      await repository.close();
    }
  });

  test('9: renaming another’s file into one’s own takes the other’s owner', async () => {
    const victim = BASE['catalogs/v4.20/quay/catalog.yaml'] ?? '';
    const { decision, classes } = await judge({
      author: 'bob',
      head: {
        'catalogs/v4.20/quay/catalog.yaml': null,
        'operators/etcd/catalog-templates/moved.yaml': victim,
      },
    });
    expect(classes).toMatchObject({ quay: 'delete-package' });
    expect(decision.authority).not.toBe('allow');
  });

  test('10: more files than the limit are not judged in part', async () => {
    const base = { [POLICY_PATH]: `${POLICY}limits: {files: 20}\n` };
    const files = (count: number): Files =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`operators/etcd/2.0.0/manifests/${i}.yaml`, 'x']),
      );
    expect((await judge({ base, author: 'bob', head: files(20) })).decision.authority).toBe('allow');
    expect(
      (await judge({ base, author: 'bob', head: { ...files(20), ...quay('6.6.6') } })).decision,
    ).toMatchObject({
      authority: 'deny',
      headline: 'denied: the pull request changes more than 20 files',
    });
  });

  test('17: only the policy waives, until its day, and never what is unsafe', () => {
    const finding = {
      rule: 'graph/stranded',
      severity: 'error',
      message: 'x',
      location: { file: 'f', line: 1, column: 1 },
      package: 'etcd',
    } as const;
    const waiver = {
      rule: 'graph/stranded',
      package: 'etcd',
      catalog: undefined,
      until: '2027-03-01',
      reason: 'known',
    };
    expect(applyWaivers([finding], [waiver], '2027-03-01')).toMatchObject({
      findings: [],
      waived: [{ waiver }],
      expired: [],
    });
    expect(applyWaivers([finding], [waiver], '2027-03-02')).toMatchObject({
      findings: [finding],
      waived: [],
      expired: [waiver],
    });
    expect(applyWaivers([{ ...finding, package: 'quay' }], [waiver], '2027-03-01').findings).toHaveLength(1);
  });
});

describe('who it is', () => {
  const ask = async (
    owner: string,
    author: { login: string; id: number },
    more: PullRequest['input'] = {},
  ): Promise<string> => {
    const base = { 'operators/etcd/ci.yaml': `reviewers: ['${owner}']\n` };
    return (await judge({ base, head: etcd('1.2.0'), input: { author, pusher: author, ...more } })).decision
      .authority;
  };

  test('12: logins are compared whole, numbers before logins, case aside', async () => {
    expect(await ask('bob', { login: 'BOB', id: 11 })).toBe('allow');
    for (const login of ['bo', 'bobby', 'xbob', 'bob-', 'b0b'])
      expect(await ask('bob', { login, id: 66 })).toBe('needs');
    expect(await ask('bob#11', { login: 'renamed', id: 11 })).toBe('allow');
  });

  test('13: a login that was given up and taken again is somebody else', async () => {
    expect(await ask('bob#11', { login: 'bob', id: 66 })).toBe('needs');
    const directory = { accounts: new Map([['bob', 66]]), teams: new Map() };
    expect(await ask('bob#11', { login: 'bob', id: 66 }, { directory })).toBe('needs');
    const gone = { accounts: new Map([['bob', null]]), teams: new Map() };
    expect(await ask('bob', { login: 'bob', id: 66 }, { directory: gone })).toBe('needs');
  });

  test('13: a team counts only when its members can be read', async () => {
    const author = { login: 'erin', id: 20 };
    expect(await ask('@my-org/etcd', author)).toBe('needs');
    const directory = { accounts: new Map(), teams: new Map([['my-org/etcd', [author]]]) };
    expect(await ask('@My-Org/Etcd', author, { directory })).toBe('allow');
    const base = {
      [POLICY_PATH]: `${POLICY.replace('owners:', 'owners:\n  allowTeams: false')}`,
      'operators/etcd/ci.yaml': "reviewers: ['@my-org/etcd']\n",
    };
    const { decision } = await judge({
      base,
      head: etcd('1.2.0'),
      input: { author, pusher: author, directory },
    });
    expect(decision).toMatchObject({
      authority: 'needs',
      warnings: [expect.stringContaining('@my-org/etcd: teams are not allowed')],
    });
  });

  test('14: the name in a commit gives nobody a right', async () => {
    const owner = { name: 'Bob', email: 'bob@example.com', account: PEOPLE.bob };
    const commits = [
      {
        id: 'c'.repeat(40),
        parents: 1,
        author: owner,
        committer: owner,
        coAuthors: [owner],
        signedOffBy: [],
        verified: true,
      },
    ];
    expect(
      (await judge({ head: etcd('1.2.0'), author: 'mallory', input: { commits } })).decision.authority,
    ).toBe('needs');
  });

  test('15: an owner’s pull request with a stranger’s push or commits takes a look by an owner', async () => {
    expect((await judge({ head: etcd('1.2.0'), author: 'bob', pusher: 'mallory' })).decision.authority).toBe(
      'needs',
    );
    const of = (account: (typeof PEOPLE)['bob'] | undefined): object => ({
      name: 'x',
      email: 'x@example.com',
      account,
    });
    const commit = (author: unknown, committer: unknown = author, coAuthors: unknown[] = []): never =>
      ({
        id: 'c'.repeat(40),
        parents: 1,
        author,
        committer,
        coAuthors,
        signedOffBy: [],
        verified: false,
      }) as never;
    const verdict = async (...commits: never[]): Promise<string> =>
      (await judge({ head: etcd('1.2.0'), author: 'bob', input: { commits } })).decision.authority;
    const bob = of(PEOPLE.bob);
    const mallory = of(PEOPLE.mallory);
    expect(await verdict(commit(bob))).toBe('allow');
    expect(await verdict(commit(bob), commit(mallory))).toBe('needs');
    expect(await verdict(commit(bob, mallory))).toBe('needs');
    expect(await verdict(commit(of(undefined)))).toBe('needs');
    expect(await verdict(commit(bob, of({ login: 'web-flow', id: 19_864_447 })))).toBe('allow');
    const server = { name: 'GitHub Enterprise', email: 'noreply@github.example.com', account: undefined };
    expect(await verdict(commit(bob, server))).toBe('allow');
    expect(await verdict(commit(mallory, server))).toBe('needs');
    expect(await verdict(commit(bob, bob, [mallory]), commit(mallory))).toBe('allow');
    // Strangers cannot name themselves.
    expect(await verdict(commit(mallory, mallory, [mallory]))).toBe('needs');
  });
});

describe('what a tree may hold', () => {
  test('18 and 20: names that other programs misread', async () => {
    for (const name of [
      'catalogs/v4.20/$(touch x)/catalog.yaml',
      'catalogs/v4.20/Etcd/catalog.yaml',
      'catalogs/v 4/etcd/catalog.yaml',
      'catalogs/v4.20/etcd/a\nb.yaml',
      'catalogs/v4.20/etcd/\u202egnp.yaml',
      'catalogs/v4.20/etcd/zero\u200bwidth.yaml',
      'catalogs/v4.20/etcd/back\\slash.yaml',
      'catalogs/v4.20/etcd/-rf',
      'catalogs/v4.20/etcd/dot.',
      'operators/etcd/catalog-templates/git~1',
      'operators/-x/ci.yaml',
      'docs/\u001b[31m',
    ]) {
      const { decision, change } = await judge({
        author: 'alice',
        head: { [name]: catalogOf('etcd', ['1.0.0']) },
      });
      expect([name, decision.authority, change.unsafe[0]?.rule]).toEqual([name, 'deny', 'path/name']);
    }
  });

  test('18: a name with a space or a dot at its end is odd among catalogs and the gate, and harmless elsewhere', async () => {
    const decisionOf = async (name: string) =>
      (await judge({ author: 'alice', head: { [name]: 'x' } })).change.unsafe.map(({ rule }) => rule);
    for (const name of [
      '.github /CODEOWNERS',
      '.github/CODEOWNERS ',
      'CODEOWNERS.',
      '.github/workflows/x.yml ',
      'catalogs /v4.20/etcd/a.yaml',
    ])
      expect([name, await decisionOf(name)]).toEqual([name, ['path/name']]);
    for (const name of ['.tekton/test.yaml ', '.github/dependabot.yml ', 'docs/-notes.md', 'docs/etc.'])
      expect([name, await decisionOf(name)]).toEqual([name, []]);
  });

  test('18: a name that Windows cannot have is refused among catalogs and the gate, and harmless elsewhere', async () => {
    const rulesOf = async (name: string) =>
      (await judge({ author: 'alice', head: { [name]: '' } })).change.unsafe.map(({ rule }) => rule);
    for (const name of [
      'catalogs/v4.20/etcd/CON.json',
      'catalogs/v4.20/etcd/aux',
      'catalogs/v4.20/etcd/x:y.json',
      'catalogs/v4.20/etcd/catalog.yaml::$DATA',
      'catalogs/v4.20/etcd/CATALO~1.YAM',
      'operators/etcd/catalog-templates/com1.yaml',
      '.github/workflows/a|b.yml',
    ])
      expect([name, await rulesOf(name)]).toEqual([name, ['path/name']]);
    for (const name of [
      'operators/etcd/1.1.0/manifests/role_etcd:leader.yaml',
      'catalogs/v4.20/etcd/console.json',
      'catalogs/v4.20/etcd/auxiliary.yaml',
      'catalogs/v4.20/etcd/catalog.yaml~',
      'docs/a:b.md',
    ])
      expect([name, await rulesOf(name)]).toEqual([name, []]);
  });

  test('20: names that git would refuse to check out', async () => {
    const { source } = gate;
    const blob = source.feed('x', 'hash-object', '-w', '--stdin');
    const treeOf = (name: Buffer): string => {
      const entry = Buffer.concat([Buffer.from('100644 '), name, Buffer.from([0]), Buffer.from(blob, 'hex')]);
      return source.feed(entry, 'hash-object', '-t', 'tree', '--literally', '-w', '--stdin');
    };
    const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
    try {
      const [base = ''] = source.chain(BASE);
      const { policy } = await policyAt(repository.objects, base);
      if (!policy) throw new Error('no policy');
      for (const name of [
        Buffer.from('..'),
        Buffer.from('.git'),
        Buffer.from('.GIT'),
        Buffer.from('a/b'),
        Buffer.from([0x66, 0xe9]),
      ]) {
        const change = await classifyChange(repository.objects, { base, merged: treeOf(name) }, policy);
        const defects = change.unsafe.filter(({ rule }) => rule === 'path/name');
        expect([name.toString('latin1'), defects.length]).toEqual([name.toString('latin1'), 1]);
      }
    } finally {
      await repository.close();
    }
  });

  test('19: links, submodules and odd modes among catalogs, at any height', async () => {
    for (const [path, written] of Object.entries<Files[string]>({
      'catalogs/v4.20/etcd/x.yaml': { mode: '120000', text: '../quay/catalog.yaml' },
      'catalogs/v4.20/linked': { mode: '120000', text: 'quay' },
      'catalogs/v4.22': { mode: '120000', text: 'v4.20' },
      'operators/etcd/catalog-templates/t.yaml': { mode: '120000', text: '/etc/passwd' },
      'operators/etcd/2.0.0/manifests': { mode: '160000', id: '1'.repeat(40) },
      'catalogs/v4.20/module': { mode: '160000', id: '1'.repeat(40) },
    })) {
      const { decision, change } = await judge({
        author: 'alice',
        approvals: ['amy', 'bob'],
        head: { [path]: written },
      });
      expect([path, decision.authority, change.unsafe[0]?.rule]).toEqual([path, 'deny', 'path/mode']);
    }
    const linked = { 'catalogs/v4.20/etcd/x.yaml': { mode: '120000', text: 'y' } } as const;
    expect(
      (await judge({ base: linked, author: 'bob', head: { 'catalogs/v4.20/etcd/x.yaml': null } })).decision
        .authority,
    ).toBe('allow');
  });

  test('20: paths that are one to systems without upper and lower case', async () => {
    for (const path of [
      'catalogs/v4.20/etcd/Catalog.yaml',
      'CATALOGS/x',
      '.GitHub/workflows/x.yaml',
      'catalogs/v4.20/etcd/CATALOG.YAML',
    ]) {
      const { change } = await judge({ author: 'alice', head: { [path]: catalogOf('etcd', []) } });
      expect([path, change.unsafe.map(({ rule }) => rule)]).toEqual([
        path,
        expect.arrayContaining(['path/collision']),
      ]);
    }
    const accents = { 'catalogs/e\u0301': 'x', 'catalogs/\u00e9': 'y' };
    const sharp = { 'catalogs/\u00df': 'x', 'catalogs/\u1e9e': 'y' };
    for (const head of [accents, sharp])
      expect((await judge({ author: 'alice', head })).change.unsafe.map(({ rule }) => rule)).toEqual([
        'path/collision',
      ]);
    const beside = { 'readme.md': 'x', 'docs/e\u0301': 'x', 'docs/\u00e9': 'y' };
    expect((await judge({ author: 'alice', head: beside })).change.unsafe).toEqual([]);
  });

  test('20: files beyond the limit, bombs and text that cannot be read', async () => {
    const small = { [POLICY_PATH]: `${POLICY}limits: {fileBytes: 2000, depth: 10}\n` };
    const levels = [
      'a: &a0 [x]',
      ...Array.from({ length: 30 }, (_, i) => `b${i}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`),
    ].join('\n');
    for (const [text, rule] of [
      ['#'.repeat(2001), 'path/limits'],
      [`schema: x\na: ${'['.repeat(12)}${']'.repeat(12)}\n`, 'fbc/yaml'],
      [`schema: x\n${levels}\n`, 'fbc/yaml'],
      [`schema: x\na: &a 1\nb: [${Array(51).fill('*a').join(', ')}]\n`, 'fbc/yaml'],
      ['schema: [\n', 'fbc/yaml'],
      ['schema: x\nname: 1\n', 'fbc/field-type'],
      ['{"schema": "x", "SCHEMA": "y"}', 'fbc/duplicate-key'],
    ] as const) {
      const { decision, change } = await judge({
        base: small,
        author: 'alice',
        head: { 'catalogs/v4.20/etcd/x.yaml': text },
      });
      expect([decision.authority, change.unsafe[0]?.rule]).toEqual(['deny', rule]);
    }
  });

  test('20: keys of the language itself are data', async () => {
    const proto = '{"schema":"olm.bundle","package":"quay","name":"x","__proto__":{"package":"etcd"}}';
    const { decision, classes } = await judge({
      author: 'bob',
      head: { 'catalogs/v4.20/etcd/x.json': proto },
    });
    expect(decision.authority).toBe('deny');
    expect(classes).toHaveProperty('quay');
    const own = { ...bundle('etcd', '1.2.0'), constructor: 1 };
    expect(
      (await judge({ author: 'bob', head: { 'catalogs/v4.20/etcd/x.json': documents(own) } })).decision
        .authority,
    ).toBe('allow');
  });
});

describe('whose blobs they are', () => {
  test('32: a new package takes no name that is reserved or somebody’s', async () => {
    const base = { [POLICY_PATH]: `${POLICY}reservedNames: ['openshift-*']\n` };
    const bring = (name: string): Promise<Judged> =>
      judge({
        base,
        author: 'mallory',
        approvals: ['alice'],
        head: {
          [`catalogs/v4.19/${name}/catalog.yaml`]: catalogOf(name, ['1.0.0']),
          [`operators/${name}/ci.yaml`]: 'reviewers: [mallory]\n',
        },
      });
    expect((await bring('mine')).decision.authority).toBe('allow');
    expect((await bring('openshift-x')).decision).toMatchObject({
      authority: 'deny',
      headline: expect.stringContaining('reserved'),
    });
    const listing = (...names: string[]): Files => {
      const references = names.map(
        (name) => `- {name: ${name}, image: 'quay.io/q/${name}@sha256:${'1'.repeat(64)}'}\n`,
      );
      return { 'composite.yaml': `name: v4.19\nreferences:\n${references.join('')}` };
    };
    const composed = { [POLICY_PATH]: `${base[POLICY_PATH]}layout: {composite: 'composite*.yaml'}\n` };
    const compose = async (before: Files, after: Files): Promise<string> =>
      (await judge({ base: { ...composed, ...before }, author: 'alice', head: after })).decision.authority;
    expect(await compose(listing('etcd'), listing('etcd', 'mine'))).toBe('allow');
    expect(await compose({}, listing('openshift-x'))).toBe('deny');
    expect(await compose(listing('etcd'), listing('etcd', 'openshift-x'))).toBe('deny');
    expect(await compose(listing('openshift-x'), listing('openshift-x', 'mine'))).toBe('allow');
    // The catalog of the next platform has the packages of the one before.
    const next = { 'composite-v4.20.yaml': listing('openshift-x')['composite.yaml'] ?? '' };
    expect(await compose(listing('openshift-x'), next)).toBe('allow');
    expect(await compose(listing('etcd'), next)).toBe('deny');
    // A name that another catalog has is not new: it takes its owners.
    expect(
      (
        await judge({
          author: 'mallory',
          head: { 'catalogs/v4.19/quay/catalog.yaml': catalogOf('quay', ['3.1.0']) },
        })
      ).decision,
    ).toMatchObject({ authority: 'needs', needs: [{ from: ['carol', 'dan'] }] });
  });

  test.each<[string, object]>([
    ['bundle', bundle('quay', '6.6.6')],
    ['channel', { schema: 'olm.channel', package: 'quay', name: 'evil', entries: [] }],
    ['package', { schema: 'olm.package', name: 'quay', defaultChannel: 'evil' }],
    ['deprecation', { schema: 'olm.deprecations', package: 'quay', entries: [] }],
    ['custom schema', { schema: 'example.com/x', package: 'quay', name: 'x' }],
    ['key of another case', { Schema: 'olm.bundle', PACKAGE: 'quay', Name: 'quay.v6.6.6', image: 'x' }],
  ])('34: another’s %s in one’s own folder', async (_, blob) => {
    const { decision, change } = await judge({
      author: 'bob',
      approvals: ['alice', 'carol'],
      head: { 'catalogs/v4.20/etcd/x.json': documents(blob) },
    });
    expect(decision).toMatchObject({
      authority: 'deny',
      headline:
        'denied: catalogs/v4.20/etcd/x.json:1 adds content of package "quay" to the folder of "etcd", which has other owners',
    });
    expect(change.packages.has('quay')).toBe(true);
  });

  test('34: where both have the same owners, both are theirs', async () => {
    const base = { 'operators/quay/ci.yaml': 'reviewers: [bob]\n' };
    const head = { 'catalogs/v4.20/etcd/x.json': documents(bundle('quay', '3.2.0')) };
    expect((await judge({ base, author: 'bob', head })).decision.authority).toBe('allow');
    // No owners on either side are not the same owners.
    const none = { 'operators/quay/ci.yaml': '{}', 'operators/etcd/ci.yaml': '{}' };
    expect((await judge({ base: none, author: 'bob', head })).decision.authority).toBe('deny');
  });

  test('34: what was there before and is taken away is a change of the package it belonged to', async () => {
    const base = { 'catalogs/v4.20/etcd/x.json': documents(bundle('quay', '3.2.0')) };
    const head = { 'catalogs/v4.20/etcd/x.json': null };
    expect((await judge({ base, author: 'bob', head })).decision).toMatchObject({
      authority: 'needs',
      needs: [{ from: ['carol', 'dan'] }],
    });
    const changed = { 'catalogs/v4.20/etcd/x.json': documents(bundle('quay', '3.2.0', { image: 'evil' })) };
    expect((await judge({ base, author: 'bob', head: changed })).decision.authority).toBe('deny');
    // An untouched one is nobody's business in a change of something else.
    expect((await judge({ base, author: 'bob', head: etcd('1.2.0') })).decision.authority).toBe('allow');
  });

  test('34: in templates and in bundles, which are rendered into catalogs', async () => {
    const template = (blob: string): Files => ({
      'operators/etcd/catalog-templates/basic.yaml': `schema: olm.template.basic\nentries:\n- ${blob}\n`,
    });
    const foreign =
      'schema: olm.template.basic\nentries:\n- {schema: olm.deprecations, package: quay, entries: []}\n';
    expect(
      (await judge({ author: 'bob', head: template('{schema: olm.bundle, package: etcd, image: x}') }))
        .decision.authority,
    ).toBe('allow');
    for (const blob of [
      '{schema: olm.bundle, package: quay, image: x}',
      '{schema: olm.package, name: quay}',
      '{Schema: olm.channel, Package: quay}',
    ]) {
      expect((await judge({ author: 'bob', head: template(blob) })).decision).toMatchObject({
        authority: 'deny',
        headline: expect.stringContaining('basic.yaml:3'),
      });
    }
    for (const name of ['basic.tmpl', 'basic', 'BASIC.YAML.j2']) {
      const head = { [`operators/etcd/catalog-templates/${name}`]: foreign };
      expect((await judge({ author: 'bob', head })).decision.authority).toBe('deny');
    }
    const readme = { 'operators/etcd/catalog-templates/README.md': '# Templates\n\n- `basic`: [all\n' };
    expect((await judge({ author: 'bob', head: readme })).decision.authority).toBe('allow');
    const raw = { 'operators/etcd/catalog-templates/raw.json': documents(bundle('quay', '6.6.6')) };
    expect((await judge({ author: 'bob', head: raw })).decision.authority).toBe('deny');
    const key = 'operators.operatorframework.io.bundle.package.v1';
    const text = (name: string): string => `annotations:\n  ${key}: ${name}\n`;
    const metadata = (file: string, annotations: string): PullRequest => ({
      author: 'bob',
      head: { [`operators/etcd/2.0.0/metadata/${file}`]: annotations },
    });
    const own = await judge(metadata('annotations.yaml', text('etcd')));
    expect(own.decision.authority).toBe('allow');
    // Whatever is in metadata/ is read, by no name in particular.
    for (const [file, annotations] of [
      ['annotations.yaml', text('quay')],
      ['annotations.yaml', `${text('quay')}#${'x'.repeat(1_100_000)}\n`],
      ['annotations', text('quay')],
      ['annotations.json', JSON.stringify({ annotations: { [key]: 'quay' } })],
      ['annotations.yaml', `Annotations:\n  ${key}: quay\n`],
    ] as const) {
      const { decision } = await judge(metadata(file, annotations));
      expect(decision).toMatchObject({
        authority: 'deny',
        headline: expect.stringContaining(`operators/etcd/2.0.0/metadata/${file}:`),
      });
    }
  });

  test.each([
    ['bundles/{package}.v{version}/**', (name: string, version: string) => `bundles/${name}.v${version}`],
    ['bundles/{version}/{package}/**', (name: string, version: string) => `bundles/${version}/${name}`],
    ['{package}/{version}/bundle/**', (name: string, version: string) => `${name}/${version}/bundle`],
  ])('34: a bundle directory is where the layout has it: %s', async (pattern, folderOf) => {
    const files = (name: string, version: string, place = name): Files => ({
      [`${folderOf(place, version)}/manifests/csv.yaml`]: `kind: ClusterServiceVersion\nmetadata: {name: ${name}.v${version}}\n`,
      [`${folderOf(place, version)}/metadata/annotations.yaml`]: `annotations: {operators.operatorframework.io.bundle.package.v1: ${name}}\n`,
    });
    const base = { [POLICY_PATH]: `${POLICY}layout: {bundle: '${pattern}'}\n`, ...files('quay', '1.2.0') };
    const own = await judge({ base, author: 'bob', head: files('etcd', '1.2.0') });
    expect([own.classes['etcd'], own.decision.authority]).toEqual(['add-entry', 'allow']);
    const changed = { base: { ...base, ...files('etcd', '1.2.0') }, head: files('quay', '1.2.0', 'etcd') };
    expect((await judge(changed)).decision.headline).toContain('adds content of package "quay"');
    const { change } = await judge({
      ...changed,
      head: { [`${folderOf('etcd', '1.2.0')}/manifests/a.yaml`]: 'a' },
    });
    expect([...(change.packages.get('etcd')?.classes ?? [])]).toEqual(['mutate-published']);
  });

  test('35: an ignore file that makes another’s blobs load, or stop loading', async () => {
    const hidden = {
      'catalogs/v4.20/etcd/.indexignore': 'x.json\n',
      'catalogs/v4.20/etcd/x.json': documents(bundle('quay', '6.6.6')),
    };
    // While it is ignored nobody loads it.
    expect((await judge({ author: 'bob', head: hidden })).decision.authority).toBe('allow');
    for (const text of ['', '!x.json\n', 'x.json\n!*.json\n', 'y.json\n']) {
      const head = { 'catalogs/v4.20/etcd/.indexignore': text };
      expect((await judge({ base: hidden, author: 'bob', head })).decision).toMatchObject({
        authority: 'deny',
        headline: expect.stringContaining('"quay"'),
      });
    }
    const { 'catalogs/v4.20/etcd/x.json': loaded } = hidden;
    const hide = { 'catalogs/v4.20/etcd/.indexignore': 'x.json\n' };
    expect(
      (await judge({ base: { 'catalogs/v4.20/etcd/x.json': loaded }, author: 'bob', head: hide })).decision,
    ).toMatchObject({ needs: [{ from: ['carol', 'dan'] }] });
  });

  test('35: an ignore file above several packages is a change of all whom it hides', async () => {
    const head = { 'catalogs/v4.20/.indexignore': 'quay/\n' };
    const { decision, classes } = await judge({ author: 'bob', head });
    expect(classes).toMatchObject({ repository: 'catalogs/v4.20/.indexignore', quay: 'prune' });
    expect(decision.authority).toBe('needs');
    expect((await judge({ author: 'alice', head })).decision.authority).toBe('allow');
  });

  test('35: a folder that loads less is judged as what it loads', async () => {
    const { classes } = await judge({ author: 'bob', head: { 'catalogs/v4.20/etcd/.indexignore': '*\n' } });
    expect(classes).toEqual({ etcd: 'edit-graph prune' });
  });
});

describe('configuration of forges and CI systems, where other files than catalogs pass', () => {
  const base = { [POLICY_PATH]: `${POLICY}approval: {required: {root: none, unknown: none}}\n` };

  test.each([
    '.gitlab-ci.yml',
    '.gitlab/ci/publish.yml',
    '.forgejo/workflows/x.yml',
    '.gitea/workflows/x.yaml',
    '.tekton/push.yaml',
    '.circleci/config.yml',
    '.GitLab-CI.yml',
    'deep/er/.gitlab-ci.yml',
    'sub/.tekton/push.yaml',
    'deep/er/.github/workflows/x.yml',
    'Jenkinsfile',
    'azure-pipelines.yml',
    'bitbucket-pipelines.yml',
    'ci/Jenkinsfile',
    'zuul.d/jobs.yaml',
    'bamboo-specs/bamboo.yml',
    'codefresh.yml',
    'buildkite/pipeline.yml',
    'packit.yaml',
    'ci/all.gocd.yaml',
    'bors.toml',
    'cloudbuild.json',
    'codeship-steps.yml',
    'site/netlify.toml',
    'renovate.json',
    'tools/gate/action.yml',
  ])('57: a stranger changes %s', async (path) => {
    const plain = await judge({ base, author: 'mallory', head: { [path]: 'script: make\n' } });
    expect([plain.decision.authority, Object.keys(plain.classes)]).toEqual(['needs', ['repository']]);
    const head = { [path]: 'script: npx portolan publish\n' };
    const running = await judge({ base, author: 'mallory', head });
    expect([running.decision.authority, Object.keys(running.classes)]).toEqual(['needs', ['gate']]);
  });

  test.each(['.gitlab/CODEOWNERS', '.forgejo/CODEOWNERS', '.gitea/codeowners'])(
    '57: a stranger names owners in %s',
    async (path) => {
      const { classes } = await judge({ base, author: 'mallory', head: { [path]: '* @mallory\n' } });
      expect(Object.keys(classes)).toEqual(['gate']);
    },
  );

  test.each(['Makefile', 'portolan-check.yml', 'ci/jobs.yaml', 'hack/check.sh', 'docs/a.b/c.d'])(
    '57: a stranger changes %s, which a job may include or run',
    async (path) => {
      const says = async (before: string, after: string) => {
        const files = { ...base, [path]: before };
        return judge({ base: files, author: 'mallory', head: { [path]: after } });
      };
      expect((await says('make\n', 'make all\n')).decision.authority).toBe('allow');
      for (const [before, after] of [
        ['npx portolan check\n', 'true\n'],
        ['true\n', 'npx portolan publish\n'],
      ] as const)
        expect((await says(before, after)).decision.authority).toBe('needs');
    },
  );

  test.each(['npx portolan publish\r\n', '\uFEFFportolan check\n'])(
    '153: a stranger adds a script in UTF-16 that runs Portolan: %j',
    async (script) => {
      const letters = [...script];
      for (const text of [
        letters.map((one) => `${one}\0`).join(''),
        letters.map((one) => `\0${one}`).join(''),
      ]) {
        const { classes } = await judge({ base, author: 'mallory', head: { 'ci/x.ps1': text } });
        expect(Object.keys(classes)).toEqual(['repository']);
      }
    },
  );

  test.each(['OWNERS', 'catalogs/OWNERS', 'catalogs/v4.20/OWNERS'])(
    '154: a stranger adds %s, which Prow obeys, where the policy names no such file',
    async (path) => {
      const policy = base[POLICY_PATH].replace('blocked: []', 'sources: []');
      const head = { [path]: 'approvers: [mallory]\n' };
      const { classes } = await judge({ base: { [POLICY_PATH]: policy }, author: 'mallory', head });
      expect(Object.keys(classes)).toEqual(['repository']);
    },
  );

  test.each(['NOTES.md', 'docs/guide.adoc', 'docs/pipelines.md', 'docs/a.b/c.txt'])(
    '57: a stranger changes %s',
    async (path) => {
      const { decision } = await judge({ base, author: 'mallory', head: { [path]: 'portolan\n' } });
      expect(decision.authority).toBe('allow');
    },
  );
});

describe('blobs of no package', () => {
  const blob = (more: object) => ({
    [`catalogs/v4.20/etcd/extra.json`]: documents({ schema: 'example.com.note', name: 'quay', ...more }),
  });

  test('60: an owner adds, changes or removes one in the folder of the own package', async () => {
    const added = await judge({ author: 'bob', head: blob({}) });
    expect([added.decision.authority, added.classes['repository']]).toEqual(['needs', 'catalogs/v4.20/etcd']);
    const changed = await judge({ base: blob({}), author: 'bob', head: blob({ x: 1 }) });
    expect(changed.decision.authority).toBe('needs');
    const removed = await judge({ base: blob({}), author: 'bob', head: blob({ package: 'etcd' }) });
    expect(removed.decision.authority).toBe('needs');
    expect((await judge({ author: 'alice', head: blob({}) })).decision.authority).toBe('allow');
  });

  test('60: an owner adds one that names the own package, or leaves one alone', async () => {
    expect((await judge({ author: 'bob', head: blob({ package: 'etcd' }) })).decision.authority).toBe(
      'allow',
    );
    const head = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
    expect((await judge({ base: blob({}), author: 'bob', head })).decision.authority).toBe('allow');
  });
});

describe('what is said', () => {
  test('21: hostile names are quoted wherever they are repeated', async () => {
    const name = '@everyone\n::error::\u001b[31m`<b>';
    const { decision } = await judge({
      author: 'bob',
      head: { 'catalogs/v4.20/etcd/x.json': documents({ schema: 'x', package: name, name: 'x' }) },
    });
    expect(decision.authority).toBe('deny');
    expect(decision.headline).not.toMatch(/\p{Cc}/u);
  });
});
