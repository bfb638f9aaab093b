import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AreaChange, Change, PackageChange } from '../../../../pipeline/change/change.ts';
import { subjectOf } from '../../../../pipeline/change/change.ts';
import {
  type AuthorityDecision,
  type AuthorityInput,
  decideAuthority,
} from '../../../../pipeline/check/authority/authority.ts';
import type { CommitFacts } from '../../../../pipeline/check/authority/authorship.ts';
import { EMPTY_DIRECTORY, type Person } from '../../../../pipeline/policy/identity.ts';
import type { PackageOwners } from '../../../../pipeline/policy/owners/owners.ts';
import { type AllowableClass, CHANGE_CLASSES } from '../../../../pipeline/policy/policy.ts';
import { POLICY_PATH, readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { catalogOf, type Gate, openGate, PEOPLE, POLICY, type PullRequest } from '../../../fakes/gate.ts';
import type { Files } from '../../../fakes/repository.ts';
import { runs } from '../../../fakes/runs.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

async function decide(pullRequest: PullRequest): Promise<AuthorityDecision> {
  return (await gate.judge(pullRequest)).decision;
}

const ADD: Files = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']) };
const ADD_QUAY: Files = {
  'catalogs/v4.20/quay/catalog.yaml': catalogOf('quay', ['3.0.0', '3.1.0', '3.2.0']),
};
const PRUNE: Files = { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) };
const MUTATE: Files = { 'operators/etcd/1.0.0/manifests/csv.yaml': 'kind: x\n' };
const DELETE: Files = {
  'catalogs/v4.19/etcd/catalog.yaml': null,
  'catalogs/v4.20/etcd/catalog.yaml': null,
  'catalogs/v4.19/free/catalog.yaml': catalogOf('free', ['0.1.0']),
};
const NEW: Files = { 'catalogs/v4.20/new/catalog.yaml': catalogOf('new', ['1.0.0']) };
const GATE: Files = { '.github/workflows/portolan.yml': 'x' };

function commitBy(who: keyof typeof PEOPLE): CommitFacts {
  const person = { name: who, email: `${who}@example.com`, account: PEOPLE[who] };
  return {
    id: 'a'.repeat(40),
    parents: 1,
    author: person,
    committer: person,
    coAuthors: [],
    signedOffBy: [],
    verified: true,
  };
}

describe('the table', () => {
  test('1: what is unsafe is refused, whoever wrote it and whoever approves', async () => {
    const link: Files = { ...ADD, 'catalogs/v4.20/etcd/link.yaml': { mode: '120000', text: '/etc/passwd' } };
    expect(await decide({ head: link, author: 'alice', approvals: ['amy', 'bob'] })).toMatchObject({
      authority: 'deny',
      headline:
        'denied: "catalogs/v4.20/etcd/link.yaml" is a symbolic link; only regular files are allowed here',
    });
  });

  test('2: an author who is blocked, or a policy that cannot be read, closes the gate', async () => {
    const base = { [POLICY_PATH]: POLICY.replace('blocked: []', "blocked: ['bob#11']") };
    expect(await decide({ base, head: ADD, author: 'bob' })).toMatchObject({
      authority: 'deny',
      headline: 'denied: @bob is blocked by the policy',
    });
    expect(await decide({ head: ADD, author: 'alice', input: { policy: undefined } })).toMatchObject({
      authority: 'deny',
      headline: expect.stringContaining('cannot read the policy on the base branch'),
    });
  });

  test('3: the gate itself takes two admins besides the author, or all there are, and comes alone', async () => {
    expect(await decide({ head: GATE, author: 'alice' })).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', count: 1, from: ['amy'] }],
    });
    expect(await decide({ head: GATE, author: 'alice', approvals: ['amy'] })).toMatchObject({
      authority: 'allow',
    });
    const three = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", "['alice#1', amy, dan]") };
    expect(await decide({ base: three, head: GATE, author: 'alice', approvals: ['amy'] })).toMatchObject({
      needs: [{ who: 'admin', count: 1, from: ['dan'] }],
    });
    const none = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", '[]') };
    expect(await decide({ base: none, head: GATE, author: 'bob' })).toMatchObject({
      headline:
        'needs 2 approvals from an admin, but the policy names nobody else who can give it for gate: it changes the policy or the gate',
    });
    expect(await decide({ head: GATE, author: 'bob', approvals: ['amy'] })).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', count: 1, from: ['alice'] }],
    });
    expect(await decide({ head: GATE, author: 'bob', approvals: ['amy', 'alice'] })).toMatchObject({
      authority: 'allow',
    });
    for (const mixed of [
      { ...GATE, ...ADD },
      { ...GATE, 'README.md': 'x' },
      { ...GATE, OWNERS: 'approvers: [bob]\n' },
      { OWNERS_ALIASES: 'aliases: {}\n', OWNERS: 'approvers: [bob]\n', ...ADD },
    ]) {
      expect(await decide({ head: mixed, author: 'alice', approvals: ['amy', 'bob'] })).toMatchObject({
        authority: 'deny',
        headline: expect.stringContaining('policy changes need their own pull request'),
      });
    }
  });

  test('OWNERS may come with the aliases that it names: two admins approve both', async () => {
    const head = { OWNERS: 'approvers: [people]\n', OWNERS_ALIASES: 'aliases: {people: [bob]}\n' };
    expect(await decide({ head, author: 'bob' })).toMatchObject({ authority: 'needs' });
    expect(await decide({ head, author: 'bob', approvals: ['amy'] })).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', count: 1, from: ['alice'] }],
    });
    expect(await decide({ head, author: 'bob', approvals: ['amy', 'alice'] })).toMatchObject({
      authority: 'allow',
    });
  });

  test.each([
    ['CODEOWNERS', { '.github/CODEOWNERS': '* @bob\n' }],
    ['OWNERS_ALIASES', { OWNERS_ALIASES: 'aliases: {team: [bob]}\n', 'hack/OWNERS': 'approvers: [bob]\n' }],
  ])(
    '%s may come with files outside of catalogs: two admins approve, and no package comes with them',
    async (_, own) => {
      const head = { ...own, 'README.md': 'x', '.github/workflows/x.yml': 'x' };
      expect(await decide({ head, author: 'bob', approvals: ['amy'] })).toMatchObject({
        authority: 'needs',
        needs: [{ who: 'admin', count: 1, from: ['alice'] }],
      });
      expect(await decide({ head, author: 'bob', approvals: ['amy', 'alice'] })).toMatchObject({
        authority: 'allow',
      });
      for (const more of [ADD, GATE, { 'catalogs/v5/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) }])
        expect(
          await decide({ head: { ...head, ...more }, author: 'bob', approvals: ['amy', 'alice'] }),
        ).toMatchObject({ authority: 'deny' });
    },
  );

  test.each<[string, Files]>([
    ['root', { 'README.md': 'x' }],
    ['unknown', { 'docs/x': 'x' }],
    ['any other workflow', { '.github/workflows/x.yml': 'x', 'docs/x': 'x' }],
    ['a link outside the catalogs', { 'docs/link': { mode: '120000', text: '/etc/passwd' } }],
    ['a new catalog', { 'catalogs/v5/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) }],
  ])('4 and 5: %s takes an admin, if only as the author', async (_, head) => {
    expect(await decide({ head, author: 'bob' })).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', count: 1, from: ['alice', 'amy'] }],
    });
    expect(await decide({ head, author: 'bob', approvals: ['amy'] })).toMatchObject({ authority: 'allow' });
    expect(await decide({ head, author: 'alice' })).toMatchObject({ authority: 'allow' });
  });

  describe('where the policy names one admin', () => {
    const base = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", "['alice#1']") };

    test('that admin changes everything alone', async () => {
      for (const head of [GATE, MUTATE, ADD, { 'docs/x': 'x' }])
        expect(await decide({ base, head, author: 'alice' })).toMatchObject({ authority: 'allow' });
      // An owner is asked where there is one besides.
      expect(await decide({ base, head: DELETE, author: 'alice' })).toMatchObject({
        needs: [{ who: 'owner', count: 1, from: ['bob'] }],
      });
      const own = { ...base, 'operators/etcd/ci.yaml': 'reviewers: [alice]\n' };
      expect(await decide({ base: own, head: DELETE, author: 'alice' })).toMatchObject({
        authority: 'allow',
      });
    });

    test.each<[string, Omit<PullRequest, 'head'>, string]>([
      [
        'somebody else pushed the head',
        { author: 'alice', pusher: 'mallory' },
        '@mallory, who pushed the head, is neither an owner nor an admin, and nobody else can approve: @alice must push a new commit',
      ],
      [
        'nobody knows who pushed the head',
        { author: 'alice', pusher: undefined },
        'it is unknown who pushed the head, and nobody else can approve: @alice must push a new commit',
      ],
      [
        'a stranger wrote a commit',
        { author: 'alice', input: { commits: [commitBy('mallory')] } },
        `commit ${'a'.repeat(12)} is from @mallory, and nobody else can approve: @alice must rewrite it (git commit --amend --reset-author), or its author must open the pull request`,
      ],
      [
        'that admin pushed to the pull request of another person',
        { author: 'mallory', pusher: 'alice' },
        '@alice pushed the head, and nobody else can approve: @mallory must push a new commit, so that @alice can approve it',
      ],
    ])('and %s, the author hears what to do', async (_, pullRequest, why) => {
      for (const head of [GATE, { 'docs/x': 'x' }]) {
        expect(await decide({ base, head, ...pullRequest })).toMatchObject({
          authority: 'needs',
          headline: `needs a new commit: ${why}`,
          needs: [{ who: 'author', count: 1, from: [pullRequest.author] }],
        });
      }
      // Where somebody else can approve, that is who is asked.
      const { needs } = await decide({ head: { 'docs/x': 'x' }, ...pullRequest });
      expect(needs).toMatchObject([{ who: 'admin', count: 1, from: ['amy'] }]);
    });

    test('nobody else does, and one approval of the admin is enough', async () => {
      for (const head of [GATE, MUTATE]) {
        expect(await decide({ base, head, author: 'bob' })).toMatchObject({
          authority: 'needs',
          needs: [{ who: 'admin', count: 1, from: ['alice'] }],
        });
        expect(await decide({ base, head, author: 'bob', approvals: ['alice'] })).toMatchObject({
          authority: 'allow',
        });
      }
    });

    test('a team is not one admin: whoever is in it may be asked', async () => {
      const team = { [POLICY_PATH]: POLICY.replace("['alice#1', amy]", "['@org/admins']") };
      expect(await decide({ base: team, head: GATE, author: 'alice' })).toMatchObject({ authority: 'needs' });
    });
  });

  describe('where the policy asks nobody about other files', () => {
    const none = `${POLICY}approval: {required: {root: none, unknown: none}}\n`;
    const base = { [POLICY_PATH]: none };

    test('anybody changes them, and Portolan does not merge it', async () => {
      for (const head of [{ 'docs/x': 'x' }, { 'README.md': 'x' }])
        expect(await decide({ base, head, author: 'mallory' })).toMatchObject({
          authority: 'allow',
          headline: 'allowed: the policy lets anybody change files outside the catalogs',
          holds: [],
          byHand: [expect.stringContaining('merge it by hand')],
        });
      // An admin has been asked.
      expect(await decide({ base, head: { 'docs/x': 'x' }, author: 'alice' })).toMatchObject({
        byHand: [],
      });
    });

    test.each<[string, Files]>([
      ['a package', ADD],
      ['the gate', GATE],
      ['a workflow', { '.github/workflows/x.yml': 'x' }],
      ['owners of everything', { OWNERS: 'approvers: [mallory]\n' }],
      ['a lock', { 'catalogs/v4.20.lock.json': '{}' }],
      ['a link', { 'docs/link': { mode: '120000', text: 'x' } }],
    ])('nobody changes %s so', async (_, head) => {
      expect(await decide({ base, head: { ...head }, author: 'mallory' })).toMatchObject({
        authority: 'needs',
      });
    });
  });

  test('5: an admin changes everything but what was published, and deletes nothing alone', async () => {
    for (const head of [ADD, PRUNE, NEW, { ...ADD, ...ADD_QUAY, 'README.md': 'x' }]) {
      expect(await decide({ head, author: 'alice' })).toMatchObject({ authority: 'allow' });
    }
    for (const head of [MUTATE, DELETE]) {
      expect(await decide({ head, author: 'alice' })).toMatchObject({
        authority: 'needs',
        needs: [{ who: 'admin', from: ['amy'] }],
      });
      expect(await decide({ head, author: 'alice', approvals: ['bob'] })).toMatchObject({
        authority: 'needs',
      });
      expect(await decide({ head, author: 'alice', approvals: ['amy'] })).toMatchObject({
        authority: 'allow',
      });
    }
  });

  test('6 and 7: a program changes what the policy lists for it, and no more', async () => {
    expect(await decide({ head: { ...ADD, ...ADD_QUAY }, author: 'robot' })).toMatchObject({
      authority: 'allow',
      headline: 'allowed: the policy allows @robot this change',
    });
    const promote = { 'catalogs/v4.19/free/catalog.yaml': catalogOf('free', ['0.1.0']) };
    const three = await decide({ head: { ...ADD, ...ADD_QUAY, ...promote }, author: 'robot' });
    expect(three).toMatchObject({ authority: 'needs' });
    expect(three.subjects.map(({ authority }) => authority)).toEqual(['needs', 'needs', 'needs']);
    const mixed = await decide({ head: { ...PRUNE, ...ADD_QUAY }, author: 'robot' });
    expect(mixed.subjects.map(({ subject, authority }) => `${subject}: ${authority}`)).toEqual([
      'package etcd: needs',
      'package quay: allow',
    ]);
    expect(mixed).toMatchObject({
      headline: expect.stringMatching(/^needs approval from @bob \(an owner\) for package etcd/),
    });
    expect(await decide({ head: ADD, author: 'robot', pusher: 'mallory' })).toMatchObject({
      authority: 'needs',
    });
    // Being named as an owner does not widen a program's scope.
    expect(
      await decide({
        base: { 'operators/etcd/ci.yaml': 'reviewers: [robot, bob]\n' },
        head: PRUNE,
        author: 'robot',
      }),
    ).toMatchObject({ authority: 'needs' });
  });

  test('6: a program is held to its packages and kinds of path', async () => {
    const base = { [POLICY_PATH]: POLICY.replace("packages: ['*']", "packages: ['qu*'], paths: [catalog]") };
    expect(await decide({ base, head: ADD_QUAY, author: 'robot' })).toMatchObject({ authority: 'allow' });
    expect(await decide({ base, head: ADD, author: 'robot' })).toMatchObject({ authority: 'needs' });
    expect(
      await decide({
        base,
        head: { ...ADD_QUAY, 'operators/quay/catalog-templates/a.yaml': 'schema: x\n' },
        author: 'robot',
      }),
    ).toMatchObject({ authority: 'needs' });
    // A policy for files of owners is not one for catalogs.
    const owners = base[POLICY_PATH].replace(
      'may: [add-entry, edit-graph, promote]',
      'may: [package-config]',
    );
    const head = { 'operators/quay/OWNERS': 'labels: [x]\n' };
    expect(await decide({ base: { [POLICY_PATH]: owners }, head, author: 'robot' })).toMatchObject({
      authority: 'needs',
    });
  });

  test.each<[string, Files]>([
    ['add-entry', ADD],
    [
      'edit-graph',
      { 'operators/etcd/catalog-templates/basic.yaml': 'schema: olm.template.basic\nentries: []\n# x\n' },
    ],
    [
      'promote',
      {
        'catalogs/v4.19/etcd/catalog.yaml': null,
        'catalogs/v4.19/quay/catalog.yaml': catalogOf('quay', ['3.1.0']),
      },
    ],
    ['package-config', { 'operators/etcd/Makefile': 'x' }],
    ['prune', PRUNE],
  ])('8 and 9: an owner may %s alone', async (name, head) => {
    const author = name === 'promote' ? 'carol' : 'bob';
    const base: Files =
      name === 'promote'
        ? {
            'operators/etcd/ci.yaml': 'reviewers: [carol]\n',
            'catalogs/v4.19/free/catalog.yaml': catalogOf('free', ['0.1.0']),
          }
        : {};
    expect(await decide({ base, head, author })).toMatchObject({
      authority: 'allow',
      headline: `allowed: @${author} is an owner`,
    });
  });

  test('9: what the rule against pruning refuses takes a second owner, or an admin', async () => {
    const input = { prunesRefused: new Set(['etcd']) };
    const two = { 'operators/etcd/ci.yaml': 'reviewers: [bob, dan]\n' };
    expect(await decide({ base: two, head: PRUNE, author: 'bob', input })).toMatchObject({
      needs: [{ who: 'owner', from: ['dan'] }],
    });
    expect(await decide({ base: two, head: PRUNE, author: 'bob', approvals: ['dan'], input })).toMatchObject({
      authority: 'allow',
    });
    expect(await decide({ head: PRUNE, author: 'bob', input })).toMatchObject({
      needs: [{ who: 'admin', from: ['alice', 'amy'] }],
    });
    expect(await decide({ head: PRUNE, author: 'bob', approvals: ['amy'], input })).toMatchObject({
      authority: 'allow',
    });
    expect(await decide({ head: PRUNE, author: 'amy', input })).toMatchObject({ authority: 'allow' });
  });

  test('10 and 12: an owner who changes what was published, or deletes, needs an admin', async () => {
    for (const head of [MUTATE, DELETE]) {
      const owned = { 'operators/free/ci.yaml': 'reviewers: [bob]\n' };
      expect(await decide({ base: owned, head, author: 'bob' })).toMatchObject({
        authority: 'needs',
        needs: [{ who: 'admin', count: 1, from: ['alice', 'amy'] }],
      });
      expect(await decide({ base: owned, head, author: 'bob', approvals: ['alice'] })).toMatchObject({
        authority: 'allow',
      });
    }
  });

  test('11: an owner adds owners alone, and removes others only with one of them or an admin', async () => {
    const owners = (...logins: string[]): Files => ({
      'operators/quay/ci.yaml': `reviewers: [${logins.join(', ')}]\n`,
    });
    expect(await decide({ head: owners('carol', 'dan', 'mallory'), author: 'carol' })).toMatchObject({
      authority: 'allow',
    });
    expect(await decide({ head: owners('dan'), author: 'carol' })).toMatchObject({ authority: 'allow' });
    for (const head of [
      owners('carol'),
      owners('carol', 'mallory'),
      owners(),
      { 'operators/quay/ci.yaml': null },
    ]) {
      expect(await decide({ head, author: 'carol' })).toMatchObject({
        authority: 'needs',
        needs: [{ who: 'owner', from: ['dan'], why: 'removes owners' }],
      });
      expect(await decide({ head, author: 'carol', approvals: ['dan'] })).toMatchObject({
        authority: 'allow',
      });
      expect(await decide({ head, author: 'carol', approvals: ['amy'] })).toMatchObject({
        authority: 'allow',
      });
    }
    expect(
      await decide({ head: { 'operators/etcd/ci.yaml': 'reviewers: []\n' }, author: 'bob' }),
    ).toMatchObject({ needs: [{ who: 'admin' }] });
  });

  test('11: a login that is pinned to another number is another owner', async () => {
    const base = { 'operators/quay/ci.yaml': "reviewers: [carol, 'dan#13']\n" };
    expect(
      await decide({
        base,
        head: { 'operators/quay/ci.yaml': "reviewers: ['carol#12', 'dan#13']\n" },
        author: 'carol',
      }),
    ).toMatchObject({ authority: 'allow' });
    expect(
      await decide({
        base,
        head: { 'operators/quay/ci.yaml': 'reviewers: [carol, dan]\n' },
        author: 'carol',
      }),
    ).toMatchObject({ authority: 'needs' });
    expect(
      await decide({
        base,
        head: { 'operators/quay/ci.yaml': "reviewers: [carol, 'dan#66']\n" },
        author: 'carol',
      }),
    ).toMatchObject({ authority: 'needs' });
  });

  test('11: a login that gets a number is another owner, unless it is the number of that account', async () => {
    const base = { 'operators/quay/ci.yaml': 'reviewers: [carol, dan]\n' };
    const { id = 0 } = PEOPLE.dan;
    const pinned = (number: number): Promise<AuthorityDecision> =>
      decide({
        input: { directory: { accounts: new Map([['dan', id]]), teams: new Map() } },
        base,
        head: { 'operators/quay/ci.yaml': `reviewers: [carol, 'dan#${number}']\n` },
        author: 'carol',
      });
    expect(await pinned(id)).toMatchObject({ authority: 'allow' });
    expect(await pinned(66)).toMatchObject({ authority: 'needs', needs: [{ why: 'removes owners' }] });
  });

  test('13: of several packages each takes its own owner', async () => {
    const head = { ...ADD, ...ADD_QUAY };
    const alone = await decide({ head, author: 'bob' });
    expect(alone.subjects.map(({ subject, authority }) => `${subject}: ${authority}`)).toEqual([
      'package etcd: allow',
      'package quay: needs',
    ]);
    expect(alone.headline).toBe(
      'needs approval from @carol or @dan (an owner) for package quay: it adds versions',
    );
    expect(await decide({ head, author: 'bob', approvals: ['dan'] })).toMatchObject({ authority: 'allow' });
    const base = { [POLICY_PATH]: `${POLICY}approval: {required: {multi-package: admins}}\n` };
    expect(await decide({ base, head, author: 'bob', approvals: ['dan'] })).toMatchObject({
      needs: [{ who: 'admin', subjects: ['package etcd', 'package quay'] }],
    });
    expect(await decide({ base, head, author: 'bob', approvals: ['dan', 'amy'] })).toMatchObject({
      authority: 'allow',
    });
  });

  test('14: a new package takes an admin, and comes with owners who are somebody', async () => {
    const owned = { ...NEW, 'operators/new/ci.yaml': 'reviewers: [mallory]\n' };
    expect(await decide({ head: owned, author: 'mallory' })).toMatchObject({
      authority: 'needs',
      needs: [{ who: 'admin', from: ['alice', 'amy'] }],
    });
    expect(await decide({ head: owned, author: 'mallory', approvals: ['amy'] })).toMatchObject({
      authority: 'allow',
    });
    for (const head of [NEW, { ...NEW, 'operators/new/ci.yaml': 'reviewers: []\n' }]) {
      expect(await decide({ head, author: 'mallory', approvals: ['amy'] })).toMatchObject({
        authority: 'needs',
        headline: 'needs a new commit: operators/new/ci.yaml must list owners of the new package',
      });
    }
  });

  test('15: an outsider needs an owner', async () => {
    expect(await decide({ head: ADD })).toMatchObject({
      authority: 'needs',
      headline: 'needs approval from @bob (an owner) for package etcd: it adds versions',
      subjects: [{ reasons: ['@mallory is neither an owner nor an admin'] }],
    });
    expect(await decide({ head: ADD, approvals: ['bob'] })).toMatchObject({ authority: 'allow' });
    expect(await decide({ head: ADD, approvals: ['carol'] })).toMatchObject({ authority: 'needs' });
    expect(await decide({ head: MUTATE, approvals: ['bob'] })).toMatchObject({ needs: [{ who: 'admin' }] });
    expect(await decide({ head: MUTATE, approvals: ['amy'] })).toMatchObject({ authority: 'allow' });
  });

  test('16: a package without owners takes an admin', async () => {
    const head = { 'catalogs/v4.20/free/catalog.yaml': catalogOf('free', ['0.1.0', '0.2.0']) };
    expect(await decide({ head, author: 'bob' })).toMatchObject({
      needs: [{ who: 'admin', from: ['alice', 'amy'] }],
    });
    expect(await decide({ head, author: 'bob', approvals: ['amy'] })).toMatchObject({ authority: 'allow' });
  });

  test('16: deleting a package without owners takes one admin, another one when an admin asks for it', async () => {
    const head = { 'catalogs/v4.20/free/catalog.yaml': null };
    expect(await decide({ head, author: 'bob' })).toMatchObject({ needs: [{ who: 'admin', count: 1 }] });
    expect(await decide({ head, author: 'bob', approvals: ['amy'] })).toMatchObject({ authority: 'allow' });
    expect(await decide({ head, author: 'alice' })).toMatchObject({ needs: [{ count: 1, from: ['amy'] }] });
  });

  test('a pull request that changes nothing is not allowed for lack of objections', async () => {
    expect(await decide({ head: {}, author: 'alice' })).toMatchObject({
      authority: 'needs',
      headline: 'needs a new commit: the pull request changes nothing',
    });
  });
});

describe('the policy may ask for other numbers', () => {
  test('of owners and of admins', async () => {
    const base = {
      [POLICY_PATH]: `${POLICY}approval: {required: {add-entry: 'owners:2', root: 'admins:2'}}\n`,
      'operators/etcd/ci.yaml': 'reviewers: [bob, dan]\n',
    };
    expect(await decide({ base, head: ADD, author: 'bob' })).toMatchObject({
      needs: [{ who: 'owner', from: ['dan'] }],
    });
    expect(await decide({ base, head: ADD, author: 'bob', approvals: ['dan'] })).toMatchObject({
      authority: 'allow',
    });
    expect(await decide({ base, head: { 'README.md': 'x' }, author: 'alice' })).toMatchObject({
      needs: [{ who: 'admin', from: ['amy'] }],
    });
  });

  test('four eyes for everybody', async () => {
    const base = { [POLICY_PATH]: `${POLICY}approval: {ownerSelfApproval: false}\n` };
    expect(await decide({ base, head: ADD, author: 'bob' })).toMatchObject({
      authority: 'needs',
      subjects: [{ reasons: ['someone other than the author must approve'] }],
    });
    expect(await decide({ base, head: ADD, author: 'bob', approvals: ['amy'] })).toMatchObject({
      authority: 'allow',
    });
  });
});

describe('whose head it is', () => {
  test('somebody else who pushed takes the word away from an owner', async () => {
    expect(await decide({ head: ADD, author: 'bob', pusher: 'mallory' })).toMatchObject({
      authority: 'needs',
      subjects: [{ reasons: ['@mallory, who pushed the head, is neither an owner nor an admin'] }],
    });
    expect(await decide({ head: ADD, author: 'bob', pusher: undefined })).toMatchObject({
      authority: 'needs',
    });
    expect(await decide({ head: ADD, author: 'bob', pusher: 'amy' })).toMatchObject({ authority: 'allow' });
    const base = { [POLICY_PATH]: `${POLICY}approval: {pusherMustBeOwner: false}\n` };
    expect(await decide({ base, head: ADD, author: 'bob', pusher: 'mallory' })).toMatchObject({
      authority: 'allow',
    });
  });

  test('neither the author nor the pusher approves', async () => {
    const base = { 'operators/etcd/ci.yaml': 'reviewers: [bob, dan]\n' };
    expect(
      await decide({ base, head: ADD, author: 'mallory', pusher: 'bob', approvals: ['bob'] }),
    ).toMatchObject({ needs: [{ who: 'owner', from: ['dan'] }] });
    expect(await decide({ head: MUTATE, author: 'alice', approvals: ['alice'] })).toMatchObject({
      authority: 'needs',
    });
  });
});

describe('other reasons not to merge', () => {
  test('drafts, labels and objections hold what is allowed', async () => {
    const decision = await decide({
      head: ADD,
      author: 'bob',
      reviews: [
        { by: 'carol', state: 'changes-requested' },
        { by: 'amy', state: 'changes-requested' },
      ],
      input: { holds: ['it is a draft'] },
    });
    expect(decision).toMatchObject({
      authority: 'allow',
      holds: ['it is a draft', '@amy requested changes'],
    });
  });
});

describe('laws of the table', () => {
  const people = Object.values(PEOPLE);
  const names = ['etcd', 'quay', 'free'];
  const ownersOf = (logins: readonly string[]): PackageOwners => ({
    identities: logins.map((login) => ({ kind: 'account', login, id: undefined })),
    source: undefined,
    findings: [],
  });
  const logins = fc.subarray(people.map(({ login }) => login));
  const classOf = fc.constantFrom(...CHANGE_CLASSES.filter((one): one is AllowableClass => one !== 'unsafe'));
  const packageChange: fc.Arbitrary<PackageChange> = fc
    .record({
      name: fc.constantFrom(...names),
      classes: fc.uniqueArray(classOf, { minLength: 1, maxLength: 4 }),
      owners: logins,
      after: logins,
    })
    .map(({ name, classes, owners, after }) => ({
      name,
      classes: new Set(classes),
      kinds: new Set(['catalog'] as const),
      paths: [],
      elsewhere: [],
      details: [],
      catalogs: [],
      owners: ownersOf(owners),
      ownersAfter: ownersOf(after),
      sides: new Map(),
    }));
  const areaChange: fc.Arbitrary<AreaChange> = fc
    .constantFrom('gate', 'root', 'unknown', 'new-catalog', 'delete-catalog')
    .map((area) => ({
      area,
      paths: [],
      catalog: area.endsWith('catalog') ? 'v1' : undefined,
      root: undefined,
      sides: new Map(),
    }));
  const changeOf = (packages: readonly PackageChange[], areas: readonly AreaChange[]): Change => ({
    paths: [],
    packages: new Map(packages.map((one) => [one.name, one])),
    areas,
    foreign: [],
    contents: new Map(),
    pins: [],
    unsafe: [],
    isRead: true,
    unread: [],
    ownerDefects: [],
  });
  const required = fc.dictionary(
    classOf,
    fc.constantFrom('owners', 'owners:2', 'admins', 'admins:2', 'owners+admins'),
    { maxKeys: 3 },
  );
  const policy = fc
    .record({ required, ownerSelfApproval: fc.boolean(), pusherMustBeOwner: fc.boolean() })
    .map((approval) => {
      const written = `${POLICY}approval: ${JSON.stringify(approval)}\nfleet: {files: [f.csv], approvals: [{clusters: 20, required: 'owners:2'}, {share: 60, required: 'admins:2'}]}\n`;
      const read = readPolicy(new TextEncoder().encode(written)).policy;
      if (!read) throw new Error(written);
      return read;
    });
  const person = fc.constantFrom(...people);
  const content = new Map(
    [...names.map((name) => `package ${name}`), 'gate', 'root', 'unknown', 'catalog v1'].map((subject) => [
      subject,
      'now',
    ]),
  );
  const reach: fc.Arbitrary<AuthorityInput['reach']> = fc.oneof(
    fc.constantFrom(undefined, 'unknown' as const),
    fc.nat(100).map((clusters) => ({ clusters, total: 100 })),
  );
  const input = (packages: fc.Arbitrary<readonly PackageChange[]>): fc.Arbitrary<AuthorityInput> =>
    fc
      .record({
        policy,
        packages,
        areas: fc.uniqueArray(areaChange, { selector: ({ area }) => area, maxLength: 1 }),
        author: person,
        pusher: person,
        approvers: fc.uniqueArray(person, { selector: ({ login }) => login }),
        prunesRefused: fc.subarray(names),
        accepted: fc.subarray(names),
        reach,
      })
      .map(({ packages: some, areas, approvers, prunesRefused, accepted, ...rest }) => ({
        ...rest,
        change: changeOf(some, areas),
        head: 'head',
        content,
        headContent: content,
        reviews: approvers.map((author) => ({ author, state: 'approved' as const, commit: 'head', content })),
        commits: [],
        directory: EMPTY_DIRECTORY,
        prunesRefused: new Set(prunesRefused),
        accepted: new Set(accepted),
        holds: [],
      }));
  const some = input(fc.uniqueArray(packageChange, { selector: ({ name }) => name, maxLength: 3 }));
  const rank = { deny: 0, needs: 1, allow: 2 };

  test('fewer approvals never allow more', () => {
    let allowed = 0;
    fc.assert(
      fc.property(some, fc.nat(), (given, index) => {
        const before = decideAuthority(given);
        if (before.authority === 'allow') allowed++;
        const reviews = given.reviews.filter((_, i) => i !== index % Math.max(1, given.reviews.length));
        expect(rank[decideAuthority({ ...given, reviews }).authority]).toBeLessThanOrEqual(
          rank[before.authority],
        );
      }),
      runs(500),
    );
    expect(allowed).toBeGreaterThan(runs(500).numRuns / 20);
  });

  test('more clusters never allow more, and a fleet that cannot be read never allows more than any number', () => {
    let differs = 0;
    fc.assert(
      fc.property(some, fc.nat(100), fc.nat(100), (given, one, more) => {
        const at = (its: AuthorityInput['reach']) =>
          rank[decideAuthority({ ...given, reach: its }).authority];
        const few = at({ clusters: Math.min(one, more), total: 100 });
        const many = at({ clusters: Math.max(one, more), total: 100 });
        expect(many).toBeLessThanOrEqual(few);
        expect(at('unknown')).toBeLessThanOrEqual(many);
        expect(few).toBeLessThanOrEqual(at(undefined));
        if (at('unknown') < at(undefined)) differs++;
      }),
      runs(500),
    );
    expect(differs).toBeGreaterThan(0);
  });

  test('more changes never allow more', () => {
    fc.assert(
      fc.property(some, fc.oneof(packageChange, areaChange), (given, more) => {
        const { packages, areas } = given.change;
        fc.pre(packages.size + areas.length > 0);
        fc.pre('name' in more ? !packages.has(more.name) : !areas.some(({ area }) => area === more.area));
        const change =
          'name' in more
            ? changeOf([...packages.values(), more], areas)
            : changeOf([...packages.values()], [...areas, more]);
        expect(rank[decideAuthority({ ...given, change }).authority]).toBeLessThanOrEqual(
          rank[decideAuthority(given).authority],
        );
      }),
      runs(500),
    );
  });

  test('another class of change never allows more', () => {
    fc.assert(
      fc.property(some, classOf, (given, more) => {
        const [first, ...others] = given.change.packages.values();
        if (!first) return;
        const change = changeOf(
          [{ ...first, classes: new Set([...first.classes, more]) }, ...others],
          given.change.areas,
        );
        expect(rank[decideAuthority({ ...given, change }).authority]).toBeLessThanOrEqual(
          rank[decideAuthority(given).authority],
        );
      }),
      runs(500),
    );
  });

  test('approvals of other content count for nothing', () => {
    fc.assert(
      fc.property(some, (given) => {
        const stale = given.reviews.map((review) => ({
          ...review,
          commit: 'old',
          content: new Map([...content.keys()].map((key) => [key, 'then'])),
        }));
        expect(decideAuthority({ ...given, reviews: stale }).authority).toBe(
          decideAuthority({ ...given, reviews: [] }).authority,
        );
      }),
      runs(500),
    );
  });

  test('whoever is named as missing makes the difference when all of them approve', () => {
    fc.assert(
      fc.property(some, (given) => {
        const { authority, needs } = decideAuthority(given);
        fc.pre(
          authority === 'needs' &&
            needs.every(({ who, from, count }) => who !== 'author' && from.length >= count),
        );
        const approvers = new Set(needs.flatMap(({ from }) => from));
        const reviews = [
          ...given.reviews,
          ...people
            .filter(({ login }) => approvers.has(login))
            .map((author: Person) => ({ author, state: 'approved' as const, commit: 'head', content })),
        ];
        expect(decideAuthority({ ...given, reviews }).authority).toBe('allow');
      }),
      runs(500),
    );
  });

  test('every subject of a change has its answer', () => {
    fc.assert(
      fc.property(some, (given) => {
        const { authority, subjects } = decideAuthority(given);
        fc.pre(authority !== 'deny');
        const { packages, areas } = given.change;
        expect(subjects.map(({ subject }) => subject)).toEqual(
          [...packages.values(), ...areas].map(subjectOf),
        );
      }),
      runs(300),
    );
  });
});
