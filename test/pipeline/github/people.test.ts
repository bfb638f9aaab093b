import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CommitFacts,
  type CommitPerson,
  checkCommits,
  signedOffBy,
  trailerPeople,
} from '../../../pipeline/check/authority/authorship.ts';
import { mergeNeeds, type Need, needText } from '../../../pipeline/check/authority/missing-approvals.ts';
import { parseCommit, type Signer } from '../../../pipeline/git/commit.ts';
import {
  formatIdentity,
  type Person,
  parseIdentity,
  resolvePeople,
  samePerson,
} from '../../../pipeline/policy/identity.ts';

test.each([
  ['alice', 'alice'],
  ['Alice#12', 'Alice#12'],
  ['dependabot[bot]', 'dependabot[bot]'],
  ['@My-Org/team.x', '@my-org/team.x'],
  ['octo_corp', 'octo_corp'],
  ['123', '123'],
])('%s names %s', (text, written) => {
  const identity = parseIdentity(text);
  expect(identity && formatIdentity(identity)).toBe(written);
});

test.each([
  '',
  'a b',
  '@org',
  'org/team',
  'a#',
  'a#0',
  'a#x',
  'a@b.com',
  '-a',
  'a\n',
  '@org/../x',
  'a'.repeat(101),
])('%j names nobody', (text) => expect(parseIdentity(text)).toBeUndefined());

test('people of a list are counted once, and what does not count is said', () => {
  const directory = {
    accounts: new Map<string, number | null>([
      ['anna', 1],
      ['gone', null],
      ['moved', 9],
    ]),
    teams: new Map([
      [
        'org/team',
        [
          { login: 'Anna', id: 1 },
          { login: 'otto', id: 2 },
        ],
      ],
    ]),
  };
  const identities = ['anna', '@org/team', 'gone', 'moved#8', '@org/hidden', 'unasked'].flatMap(
    (text) => parseIdentity(text) ?? [],
  );
  const { people, ignored } = resolvePeople(identities, { directory, allowTeams: true });
  expect(people).toEqual([
    { login: 'anna', id: 1 },
    { login: 'otto', id: 2 },
    { login: 'unasked', id: undefined },
  ]);
  expect(ignored).toEqual([
    'gone: no such GitHub account',
    'moved#8: the login now belongs to account 9',
    '@org/hidden: cannot read its members, which requires the token of a GitHub App',
  ]);
});

test('66: people are the same by number, else by login, and each is looked at a few times', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ login: fc.constantFrom('a', 'A', 'b', 'c'), id: fc.constantFrom(undefined, 1, 2, 3) }),
      ),
      (members) => {
        const expected: Person[] = [];
        for (const one of members) if (!expected.some((other) => samePerson(one, other))) expected.push(one);
        expect(peopleOf(members)).toEqual(expected);
      },
    ),
  );
  let looks = 0;
  const many = Array.from({ length: 2000 }, (_, i) => ({
    id: undefined,
    get login() {
      looks++;
      return `u${i}`;
    },
  }));
  expect(peopleOf(many)).toHaveLength(2000);
  expect(looks).toBeLessThan(10_000);
});

/** The people of teams with one member each. */
function peopleOf(members: readonly Person[]): readonly Person[] {
  const teams = new Map(members.map((member, i) => [`org/t${i}`, [member]]));
  const identities = members.map((_, i) => ({ kind: 'team', team: `org/t${i}` }) as const);
  return resolvePeople(identities, { directory: { accounts: new Map(), teams }, allowTeams: true }).people;
}

describe('commits', () => {
  const anna = { login: 'anna', id: 1 };
  const accounts = new Map([['anna@example.com', anna]]);
  const facts = (headers: string, message: string, verified = false): CommitFacts => {
    const commit = parseCommit('c'.repeat(40), `tree ${'0'.repeat(40)}\n${headers}\n\n${message}`);
    const personOf = ({ name, email }: Signer): CommitPerson => ({
      name,
      email,
      account: accounts.get(email),
    });
    return {
      id: commit.id,
      parents: commit.parents.length,
      author: personOf(commit.author),
      committer: personOf(commit.committer),
      coAuthors: trailerPeople(commit.trailers, accounts),
      signedOffBy: signedOffBy(commit.trailers),
      verified,
    };
  };
  const by = (name: string): string =>
    `author ${name} <${name}@example.com> 1 +0000\ncommitter ${name} <${name}@example.com> 1 +0000`;
  const parent = `parent ${'1'.repeat(40)}\n`;
  const rules = { signOff: true, verified: true };

  test('must be signed off by their author, and verified, where the policy asks', () => {
    const good = facts(parent + by('anna'), 'x\n\nSigned-off-by: Anna <Anna@example.com>\n', true);
    expect(checkCommits([good], [anna], rules)).toEqual({ strangers: [], demands: [] });
    const other = facts(parent + by('anna'), 'x\n\nSigned-off-by: Otto <otto@example.com>\n');
    expect(checkCommits([other], [anna], rules).demands).toEqual([
      'commit cccccccccccc has no Signed-off-by line from its author (git commit --amend --signoff)',
      'commit cccccccccccc has no verified signature on GitHub (git commit --amend -S)',
    ]);
    expect(checkCommits([other], [anna], { signOff: false, verified: false }).demands).toEqual([]);
  });

  test('without an address are signed off by nobody', () => {
    const nobody = facts(
      `${parent}${by('anna').replace('anna@example.com', '')}`,
      'x\n\nSigned-off-by: anna <>\n',
      true,
    );
    expect(checkCommits([nobody], [anna], rules).demands).toEqual([
      expect.stringContaining('no Signed-off-by line'),
    ]);
  });

  test('that only merge are not asked for either', () => {
    expect(checkCommits([facts(parent + parent + by('anna'), 'merge\n')], [anna], rules).demands).toEqual([]);
  });

  test('of people whom nobody knows are named, and counted beyond five', () => {
    const stranger = facts(parent + by('mallory'), 'x\n');
    const { strangers } = checkCommits(
      Array.from({ length: 8 }, () => stranger),
      [anna],
      { signOff: false, verified: false },
    );
    expect(strangers).toHaveLength(6);
    expect(strangers[0]).toBe(
      'commit cccccccccccc is from "mallory", whose email belongs to no GitHub account',
    );
    expect(strangers[5]).toBe('3 more commits have the same problem');
  });
});

describe('needs', () => {
  const need = (more: Partial<Need>): Need => ({
    who: 'owner',
    count: 1,
    from: ['bob'],
    subjects: ['package etcd'],
    why: 'adds versions',
    ...more,
  });

  test('of the same people are one, the author’s own come first', () => {
    const merged = mergeNeeds([
      need({}),
      need({ subjects: ['package quay'], why: 'prunes' }),
      need({ who: 'admin', from: ['alice'] }),
      need({ who: 'author', why: 'sign off', from: ['mallory'] }),
    ]);
    expect(merged.map(({ who, subjects, why }) => `${who}: ${subjects.join(', ')}: ${why}`)).toEqual([
      'author: package etcd: sign off',
      'admin: package etcd: adds versions',
      'owner: package etcd, package quay: adds versions; prunes',
    ]);
    expect(needText(merged)).toBe('needs a new commit: sign off; and 2 more');
  });

  test('name who can give them, a few of many', () => {
    expect(needText([need({ from: ['a', 'b', 'c', 'd', 'e', 'f'], count: 2 })])).toBe(
      'needs 2 approvals from @a, @b, @c, @d or 2 others (an owner) for package etcd: it adds versions',
    );
    expect(needText([need({ from: ['a', 'b', 'c', 'd', 'e'] })])).toContain(
      '@a, @b, @c, @d or @e (an owner)',
    );
    expect(needText([need({ who: 'admin', from: [] })])).toBe(
      'needs approval from an admin, but the policy names nobody else who can give it for package etcd: it adds versions',
    );
  });
});
