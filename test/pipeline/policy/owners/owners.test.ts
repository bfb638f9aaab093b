import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOST_STEPS } from '../../../../catalog/go/steps.ts';
import { openRepository, type Repository } from '../../../../pipeline/git/repository.ts';
import { formatIdentity } from '../../../../pipeline/policy/identity.ts';
import {
  comparedOwnersReader,
  type PackageOwners,
  sameOwners,
} from '../../../../pipeline/policy/owners/owners.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { type Files, makeRepository, type TestRepository } from '../../../fakes/repository.ts';

let source: TestRepository;
let repository: Repository;
beforeAll(async () => {
  source = makeRepository();
  repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
});
afterAll(async () => {
  await repository.close();
  source.remove();
});

const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';

async function read(
  files: Files,
  paths: readonly string[],
  written = '',
  steps = MOST_STEPS,
): Promise<PackageOwners> {
  const { policy, findings } = readPolicy(new TextEncoder().encode(HEAD + written));
  if (!policy) throw new Error(JSON.stringify(findings));
  const [commit = ''] = source.chain({ empty: '', ...files });
  return comparedOwnersReader(repository.objects, commit, policy, { left: steps }).ownersOf('etcd', paths);
}

async function owners(
  files: Files,
  paths: readonly string[] = [],
  written = '',
  steps?: number,
): Promise<string> {
  return (await read(files, paths, written, steps)).identities.map(formatIdentity).join(' ');
}

describe('ci.yaml', () => {
  const CI = 'operators/etcd/ci.yaml';

  test('names owners under reviewers', async () => {
    expect(await owners({ [CI]: "reviewers:\n- bob\n- 'Carol#12'\n- '@My-Org/Team'\n" })).toBe(
      'bob Carol#12 @my-org/team',
    );
    expect(await read({ [CI]: 'reviewers: [bob]\n' }, [])).toMatchObject({ source: CI, findings: [] });
  });

  test('entries that name nobody are said and left out', async () => {
    const { identities, findings } = await read({ [CI]: 'reviewers:\n- bob\n- 12\n- "a b"\n- {x: y}\n' }, []);
    expect(identities.map(formatIdentity)).toEqual(['bob']);
    expect(
      findings.map(
        ({ rule, severity, location: { line, column } }) => `${rule} ${severity} ${line}:${column}`,
      ),
    ).toEqual(['owners/entry warning 3:3', 'owners/entry warning 4:3', 'owners/entry warning 5:3']);
  });

  test('one that cannot be read makes nobody an owner, whatever comes after it', async () => {
    const policy = 'owners: {packages: {etcd: [dan]}}\n';
    for (const broken of ['reviewers: [bob', { mode: '120000', text: 'x' }] as const) {
      const { identities, findings } = await read({ [CI]: broken }, [], policy);
      expect(identities).toEqual([]);
      expect(findings).toMatchObject([{ severity: 'error', location: { file: CI } }]);
    }
  });

  test('one that is too large makes nobody an owner', async () => {
    const { identities, findings } = await read(
      { [CI]: `reviewers: [bob]\n#${'x'.repeat(1024 * 1024)}` },
      [],
    );
    expect(identities).toEqual([]);
    expect(findings).toMatchObject([
      {
        rule: 'owners/file',
        severity: 'error',
        message: `cannot read the owners in ${CI}: it is larger than 1048576 bytes`,
      },
    ]);
  });

  test('one without reviewers leaves it to the next source, at last to the policy', async () => {
    const policy = 'owners: {packages: {etcd: [dan]}}\n';
    for (const empty of ['fbc: {}\n', 'reviewers:\n', 'reviewers: bob\n', '']) {
      expect(await owners({ [CI]: empty }, [], policy)).toBe('dan');
    }
    expect(await owners({}, [], policy)).toBe('dan');
    expect(await owners({}, [])).toBe('');
    expect((await read({}, [], policy)).source).toBe('the policy');
  });

  test.each([
    ['settings/repeated-key', 'reviewers: [bob]\nreviewers: [dan]\n'],
    ['settings/document', 'reviewers: [bob]\n---\nreviewers: [dan]\n'],
    ['settings/yaml', 'x: &all [bob]\nreviewers: *all\n'],
    ['settings/yaml', 'reviewers: [!!str bob]\n'],
    ['settings/yaml', 'reviewers: !!set [bob]\n'],
    ['settings/yaml', 'reviewers: [bob]\n<<: {reviewers: [dan]}\n'],
    ['settings/yaml', '# why\u2028reviewers: [bob]\n'],
    ['settings/yaml', '# why\x85reviewers: [bob]\n'],
    ['settings/yaml', '# why\rreviewers: [bob]\n'],
  ])(
    'attack 42: nobody is an owner by a file that readers of YAML read in different ways: %s %j',
    async (rule, text) => {
      const { identities, findings } = await read({ [CI]: text }, []);
      expect(identities).toEqual([]);
      expect(findings).toMatchObject([{ rule, severity: 'error', location: { file: CI } }]);
    },
  );
});

describe('prow', () => {
  const PATHS = ['operators/etcd/1.0.0/csv.yaml'];

  test('owners are those of the folder and of all folders above', async () => {
    const files = {
      OWNERS: 'approvers: [Root]\n',
      'operators/OWNERS': 'approvers: [ops, "@at"]\nreviewers: [nobody]\n',
      'operators/etcd/1.0.0/OWNERS': 'approvers: [leaf]\n',
      'operators/quay/OWNERS': 'approvers: [other]\n',
    };
    expect(await owners(files, PATHS)).toBe('leaf ops at root');
  });

  test('no_parent_owners ends the way up, unless nobody was found yet', async () => {
    const root = { OWNERS: 'approvers: [root]\n' };
    const options = 'options: {no_parent_owners: true}\n';
    expect(await owners({ ...root, 'operators/OWNERS': `${options}approvers: [ops]\n` }, PATHS)).toBe('ops');
    expect(await owners({ ...root, 'operators/OWNERS': `${options}reviewers: [x]\n` }, PATHS)).toBe('root');
  });

  test.each([
    ['ops', 'Options: {No_Parent_Owners: true}\napprovers: [ops]\n'],
    ['ops', 'OPTIONS: {no_parent_owners: true}\noptions: {}\nApprovers: [ops]\n'],
    ['ops root', 'Options: {no_parent_owners: true}\noptions: {no_parent_owners: false}\napprovers: [ops]\n'],
    ['ops root', 'approvers: [ops]\nApprovers: [dan]\n'],
    ['ops root', 'Filters: {".*": {Approvers: [ops]}}\n'],
    ['dan ops root', 'Filters: {".*": {approvers: [dan]}}\nfilters: {"e.*": {approvers: [ops]}}\n'],
    ['ops root', 'Filters: {".*": {approvers: [dan]}}\nfilters: {".*": {approvers: [ops]}}\n'],
    ['ops', 'Options: {no_parent_owners: true}\noptions: {no_parent_owners: null}\napprovers: [ops]\n'],
  ])('Go reads keys in upper case, too, before the usual ones: %s by %j', async (expected, text) => {
    const files = { OWNERS: 'approvers: [root]\n', 'operators/OWNERS': text };
    expect(await owners(files, PATHS)).toBe(expected);
  });

  test('a login of digits is one, as sigs.k8s.io/yaml reads it', async () => {
    const files = { OWNERS_ALIASES: 'aliases: {team: [777]}\n', OWNERS: 'approvers: [1234, team]\n' };
    expect(await owners(files, PATHS)).toBe('1234 777');
  });

  test.each(['{dir}/OWNERS', 'operators/{package}/OWNERS'])(
    '%s: entries that are nobody are said',
    async (path) => {
      const files = {
        OWNERS_ALIASES: 'aliases:\n  team lead: [carol, "d d"]\n',
        'operators/etcd/OWNERS': 'reviewers: [bob]\napprovers: [bob, "team lead", "a b", x@example.com]\n',
      };
      const { identities, findings } = await read(
        files,
        PATHS,
        `owners: {sources: [{path: '${path}', format: prow}]}\n`,
      );
      expect(identities.map(formatIdentity)).toEqual(['bob', 'carol']);
      expect(
        findings.map(({ rule, message, location: { line } }) => `${rule} ${line} ${message}`).sort(),
      ).toEqual([
        'owners/entry 1 OWNERS_ALIASES: "d d" is not a valid user, so Portolan ignores it',
        'owners/entry 2 operators/etcd/OWNERS: "a b" is not a valid user, so Portolan ignores it',
        'owners/entry 2 operators/etcd/OWNERS: "x@example.com" is not a valid user, so Portolan ignores it',
      ]);
    },
  );

  test('of many entries that are nobody the first are said, since every package has these warnings', async () => {
    const nobodies = Array.from({ length: 1000 }, (_, i) => `"n ${i}"`).join();
    const files = {
      OWNERS_ALIASES: `aliases: {team: [${nobodies}]}\n`,
      OWNERS: `approvers: [bob, ${nobodies}]\n`,
    };
    const { identities, findings } = await read(files, PATHS);
    expect([identities.map(formatIdentity), findings.length]).toEqual([['bob'], 40]);
  });

  test('aliases stand for their members', async () => {
    const aliases = { OWNERS_ALIASES: 'aliases:\n  Team: [A, b]\n  flow: {c, d}\n  none:\n' };
    expect(await owners({ ...aliases, OWNERS: 'approvers: [TEAM, flow, none, e]\n' }, PATHS)).toBe(
      'a b c d e',
    );
  });

  test.each([
    'aliases:\n  team: [bob]\n  team: [dan]\n',
    'aliases: {team: [bob]}\n---\naliases: {team: [dan]}\n',
    'x: &x [bob]\naliases: {team: *x}\n',
    'not: [yaml',
  ])('attack 42: nobody is an owner while the aliases cannot be read: %j', async (aliases) => {
    const { identities, findings } = await read(
      { OWNERS_ALIASES: aliases, OWNERS: 'approvers: [team]\n' },
      PATHS,
    );
    expect(identities).toEqual([]);
    expect(findings).toMatchObject([{ severity: 'error', location: { file: 'OWNERS_ALIASES' } }]);
  });

  test('two spellings of an alias stand for nobody', async () => {
    const aliases = { OWNERS_ALIASES: 'aliases: {Team: [bob], team: [dan]}\n' };
    expect(await owners({ ...aliases, OWNERS: 'approvers: [team, e]\n' }, PATHS)).toBe('e');
  });

  test('filters speak of the paths that they match', async () => {
    const filters =
      'filters:\n  ".*": {approvers: [all]}\n  "\\\\.md$": {approvers: [writer]}\n  "^etcd/": {approvers: [etcd]}\n  "(?i)CSV": {approvers: [folded]}\n  "(": {approvers: [broken]}\n';
    expect(await owners({ 'operators/OWNERS': filters }, PATHS)).toBe('all etcd folded');
    expect(await owners({ 'operators/OWNERS': filters }, ['operators/etcd/x.md'])).toBe('all writer etcd');
    // Anybody named outside of the filters makes prow read the file without them.
    expect(await owners({ 'operators/OWNERS': `${filters}reviewers: [x]\n` }, PATHS)).toBe('');
  });

  test('filters that are not read are said, and take no time', async () => {
    const filters = 'filters:\n  "^(catalog/(a+)+)$": {approvers: [slow]}\n  "(?!x)": {approvers: [never]}\n';
    const path = `operators/etcd/catalog/${'a'.repeat(200)}!`;
    const { identities, findings } = await read({ 'operators/etcd/OWNERS': filters }, [path]);
    expect(identities).toEqual([]);
    expect(findings).toMatchObject([
      {
        rule: 'owners/entry',
        severity: 'warning',
        message: expect.stringContaining('the filter "(?!x)" is not a supported regular expression'),
        location: { file: 'operators/etcd/OWNERS', line: 3, column: 3 },
      },
    ]);
    const many = Array.from({ length: 50 }, (_, i) => `  "${'a'.repeat(100)}${i}": {approvers: [x]}\n`);
    const read50 = await read({ 'operators/etcd/OWNERS': `filters:\n${many.join('')}` }, [path]);
    expect(read50.findings.length).toBeGreaterThan(25);
  });

  test('of several paths, only who owns all of them', async () => {
    const files = {
      OWNERS: 'approvers: [root]\n',
      'catalogs/OWNERS': 'approvers: [cat]\n',
      'operators/OWNERS': 'approvers: [ops, cat]\n',
    };
    expect(await owners(files, ['operators/etcd/a', 'catalogs/v1/etcd/b'])).toBe('cat root');
  });

  test('a file of one package may be named by its path', async () => {
    const policy = "owners: {sources: [{path: 'packages/{package}/OWNERS', format: prow}]}\n";
    expect(
      await owners(
        { 'packages/etcd/OWNERS': 'approvers: [bob]\n', OWNERS: 'approvers: [root]\n' },
        [],
        policy,
      ),
    ).toBe('bob');
  });

  test('comes after ci.yaml, and only where that names nobody', async () => {
    const files = { OWNERS: 'approvers: [root]\n', 'operators/etcd/ci.yaml': 'reviewers: [bob]\n' };
    expect(await owners(files, PATHS)).toBe('bob');
  });
});

test('lists are the same when they name the same people, and somebody', () => {
  const list = (...logins: string[]): PackageOwners => ({
    identities: logins.map((login) => ({ kind: 'account', login, id: undefined })),
    source: undefined,
    findings: [],
  });
  expect(sameOwners(list('a', 'B'), list('b', 'A', 'a'))).toBe(true);
  expect(sameOwners(list('a'), list('a', 'b'))).toBe(false);
  expect(sameOwners(list(), list())).toBe(false);
});

describe('CODEOWNERS as a source', () => {
  const policy =
    "owners: {sources: [{path: 'operators/{package}/ci.yaml', format: ci.yaml}, {path: CODEOWNERS, format: codeowners}], packages: {etcd: [dan]}}\n";
  const lines = '* @root\n/catalogs/*/etcd/ @bob @Org/Team\n/catalogs/v5/etcd/ @bob\n/operators/free/\n';
  const files = { CODEOWNERS: lines };

  test.each<[string, string[], string]>([
    ['the last line that matches counts', ['catalogs/v4/etcd/a'], 'bob @org/team'],
    ['of several files, who owns all of them', ['catalogs/v4/etcd/a', 'catalogs/v5/etcd/a'], 'bob'],
    [
      'files with different owners have none in common, and the policy counts',
      ['catalogs/v4/etcd/a', 'x'],
      'dan',
    ],
    ['a line without owners takes them away', ['operators/free/a'], 'dan'],
    ['a line for everything counts as on GitHub', ['x'], 'root'],
    ['no file, no owner', [], 'dan'],
  ])('%s', async (_, paths, expected) => {
    expect(await owners(files, paths, policy)).toBe(expected);
  });

  test('comes after the sources before it, and is not read unless the policy names it', async () => {
    const paths = ['catalogs/v5/etcd/a'];
    const both = { ...files, 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' };
    expect(await owners(both, paths, policy)).toBe('carol');
    expect(await owners(files, paths)).toBe('');
  });

  test('an address of mail is left out, and a file that cannot be read makes nobody an owner', async () => {
    const mail = await read({ CODEOWNERS: 'etcd/ @bob bob@example.com\n' }, ['etcd/a'], policy);
    expect(mail.identities.map(formatIdentity)).toEqual(['bob']);
    expect(mail.findings).toMatchObject([
      { rule: 'owners/entry', severity: 'warning', location: { line: 1 } },
    ]);
    const link = await read({ CODEOWNERS: { mode: '120000', text: 'x' } }, ['etcd/a'], policy);
    expect(link).toMatchObject({ identities: [], findings: [{ rule: 'owners/file', severity: 'error' }] });
  });

  test('a byte order mark is an error, so that no other source decides', async () => {
    const { identities, findings } = await read({ CODEOWNERS: '\ufeff/etcd/ @bob\n' }, ['etcd/a'], policy);
    expect(identities).toEqual([]);
    expect(findings[0]).toMatchObject({
      rule: 'owners/file',
      severity: 'error',
      message: 'cannot read the owners in CODEOWNERS: it is a file with a byte order mark',
    });
  });

  test('no other file is read as one, nor this one as another', () => {
    for (const wrong of [
      "{path: 'operators/{package}/ci.yaml', format: codeowners}",
      '{path: CODEOWNERS, format: prow}',
    ]) {
      const written = `${HEAD}owners: {sources: [${wrong}]}\n`;
      expect(readPolicy(new TextEncoder().encode(written)).policy).toBeUndefined();
    }
  });
});

describe('CODEOWNERS', () => {
  const files = {
    'operators/etcd/ci.yaml': 'reviewers: [bob]\n',
    '.github/CODEOWNERS': '* @alice\n/catalogs/*/etcd/ @carol\n/operators/etcd/ @Bob\n',
    CODEOWNERS: '/catalogs/ @mallory\n',
  };

  test('decides nothing; where it names others, that is said with what to write', async () => {
    const paths = ['catalogs/v4.20/etcd/a.yaml', 'catalogs/v4.20/etcd/b.yaml', 'operators/etcd/ci.yaml', 'x'];
    const { identities, findings } = await read(files, paths);
    expect(identities.map(formatIdentity)).toEqual(['bob']);
    expect(findings).toEqual([
      {
        rule: 'owners/code-owners',
        severity: 'warning',
        message:
          '.github/CODEOWNERS:2 makes GitHub request a review from carol for /catalogs/*/etcd/, but Portolan requires bob (operators/etcd/ci.yaml)',
        location: { file: '.github/CODEOWNERS', line: 2, column: 1 },
        hint: '/catalogs/*/etcd/ @bob',
      },
    ]);
  });

  test('that is too large is said', async () => {
    const large = { ...files, '.github/CODEOWNERS': '/operators/ @carol\n'.repeat(60_000) };
    expect((await read(large, ['operators/etcd/ci.yaml'])).findings).toMatchObject([
      {
        rule: 'owners/code-owners',
        severity: 'warning',
        message:
          '.github/CODEOWNERS is larger than 1048576 bytes, so its entries are not compared with the owners',
      },
    ]);
  });

  test('that agrees, or is no plain file, is not mentioned', async () => {
    expect((await read(files, ['operators/etcd/ci.yaml'])).findings).toEqual([]);
    const linked = { ...files, '.github/CODEOWNERS': { mode: '120000', text: 'x' } as const };
    expect((await read(linked, ['catalogs/v4.20/etcd/a.yaml'])).findings).toMatchObject([
      { location: { file: 'CODEOWNERS', line: 1 } },
    ]);
  });
});

describe('71: files of owners whose patterns are too many for the changed files', () => {
  // A hundredth of what a check may take, and of the lines that cost too much.
  const STEPS = MOST_STEPS / 100;
  const PATHS = Array.from({ length: 90 }, (_, i) => `catalogs/v4.20/etcd/${i}.yaml`);
  const LINES = `* @bob\n${'/b @x\n'.repeat(1700)}`;

  test.each([
    {
      files: {
        'catalogs/v4.20/etcd/OWNERS': `filters: {'^b{900}x': {approvers: [bob]}, '^b{900}y': {approvers: [bob]}, '.*': {approvers: [bob]}}\n`,
      },
      paths: PATHS.slice(0, 50).map((path) => path.replace('etcd/', `etcd/${'a'.repeat(4000)}`)),
    },
    {
      files: { CODEOWNERS: LINES },
      policy: 'owners: {sources: [{path: CODEOWNERS, format: codeowners}]}\n',
      paths: PATHS,
      steps: STEPS,
    },
  ])('make nobody an owner, %#', async ({ files, policy, paths, steps }) => {
    const { identities, findings } = await read(files, paths, policy, steps);
    expect(identities).toEqual([]);
    expect(findings).toMatchObject([{ rule: 'owners/file', severity: 'error' }, ...findings.slice(1)]);
    expect(findings[0]?.message).toContain(`the owners of ${paths.length} changed files`);
    expect(await owners(files, paths.slice(0, 2), policy, steps)).toBe('bob');
  });

  test('compile once for all files, and not at all beyond what they may take', async () => {
    const filters = (count: number): string =>
      Array.from(
        { length: count },
        (_, i) => `  '${'(a*)*'.repeat(10)}(a|[a-z]{1,9}){1,9}${i}': {approvers: [x]}\n`,
      ).join('');
    const file = (count: number): Files => ({
      OWNERS: `filters:\n${filters(count)}  '.*': {approvers: [bob]}\n`,
    });
    const paths = PATHS.map((path) => path.slice(-8));
    expect(await owners(file(5), paths, '', MOST_STEPS / 10)).toBe('bob');
    expect(await read(file(40), ['a'], '', MOST_STEPS / 10)).toMatchObject({
      identities: [],
      findings: [{ rule: 'owners/file', severity: 'error' }],
    });
  });

  test('are not compared with the owners', async () => {
    const { identities, findings } = await read(
      { 'operators/etcd/ci.yaml': 'reviewers: [carol]\n', CODEOWNERS: LINES },
      PATHS,
      '',
      STEPS,
    );
    expect(identities.map(formatIdentity)).toEqual(['carol']);
    expect(findings).toMatchObject([{ rule: 'owners/code-owners', severity: 'warning' }]);
    expect(findings[0]?.message).toContain('has too many patterns for the changed files');
  });
});
