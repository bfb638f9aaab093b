/** Release rings on the command line, over a directory in place of a cloud. */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import { readWork } from '../../../../pipeline/publish/delivery/message.ts';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { folder } from '../../../fakes/folder.ts';
import { harbourRepository, type SampleRepository } from '../../../fakes/sample.ts';
import { type Ran, runCommand } from '../../../fakes/terminal.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
  const policy = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const rings =
    "rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}-early', after: 24h}, {tag: '{catalog}', after: 72h, approvals: 2}]";
  sample.commit(
    { [POLICY_PATH]: policy.replace(/( +)mirrorTo:/, (line, indent) => `${indent}${rings}\n${line}`) },
    { parents: [sample.base], branch: 'main' },
  );
});
afterAll(() => sample.remove());

/** A directory with one publish, and the command line an hour later for each command. */
async function published(): Promise<{ (...words: readonly string[]): Promise<Ran>; directory: string }> {
  const directory = folder();
  let hour = 0;
  const run = (...words: readonly string[]): Promise<Ran> =>
    runCommand(words, {
      directory,
      environment: { USER: 'anna' },
      now: () => new Date(Date.UTC(2027, 0, 1, hour++)),
    });
  const ran = await run('publish', '--repo', sample.directory, '--commit', 'main', '--local', '.portolan');
  expect(ran.exit, ran.err).toBe(0);
  return Object.assign(run, { directory });
}

const MAIN = (): string => sample.git('rev-parse', 'main').trim();
const REPO = (): string[] => ['--repo', sample.directory];

test('shows what waits, as text and as JSON', async () => {
  const run = await published();
  const commit = MAIN().slice(0, 12);
  const ran = await run('ring', 'list', '--page', 'rings.html');
  expect(ran.out.replaceAll(/sha256:\w+/g, 'DIGEST')).toBe(
    [
      'v4.20',
      `  v4.20-canary  ${commit} DIGEST`,
      '  v4.20-early  nothing yet',
      `    waits  ${commit} (opens 2027-01-02T01:00Z at the earliest): soaks for another 24 h of 24 h`,
      '  v4.20  nothing yet',
      '',
    ].join('\n'),
  );
  expect(ran.exit).toBe(0);
  const directory = JSON.parse((await run('ring', 'list', '--json')).out);
  expect(directory).toMatchObject([{ catalog: 'v4.20', waits: [{ commit: MAIN() }] }]);
});

test('an act is recorded with the account where nothing else says who it is', async () => {
  const { directory } = await published();
  const held = async (environment: Readonly<Record<string, string>>, ...words: readonly string[]) => {
    await runCommand(['ring', 'hold', 'v4.20', ...REPO(), '--reason', 'x', ...words], {
      ...{ directory, environment },
    });
    return (await runCommand(['ring', 'list'], { directory, environment })).out;
  };
  for (const [environment, words, by] of [
    [{}, [], userInfo().username],
    [{ USER: 'bob' }, [], 'bob'],
    [{ USER: 'bob', GITHUB_ACTOR: 'zoe' }, [], 'zoe'],
    [{}, ['--by', 'yan'], 'yan'],
  ] as const)
    expect(await held(environment, ...words)).toContain(`by ${by} since`);
});

test('a ring opens early once enough people have said so, each with a reason; the rings before it open as well', async () => {
  const run = await published();
  const words = ['ring', 'promote', 'v4.20', 'v4.20', ...REPO()];
  expect(await run(...words)).toMatchObject({ exit: 2, err: expect.stringContaining('--reason') });
  const first = await run(...words, '--reason', 'CVE-2027-1');
  expect(first).toMatchObject({ exit: 1, out: 'approved: v4.20 opens after 1 more approval\n' });
  // The same person again is no second one.
  expect((await run(...words, '--reason', 'really')).exit).toBe(1);
  const second = await run(...words, '--reason', 'CVE-2027-1', '--by', 'bob');
  expect(second, second.err).toMatchObject({ exit: 0, out: expect.stringContaining(`commit  ${MAIN()}`) });
  const [state] = JSON.parse((await run('ring', 'list', '--json')).out);
  expect(state.rings.map(({ image }: { image?: { commit: string } }) => image?.commit)).toEqual([
    MAIN(),
    MAIN(),
    MAIN(),
  ]);
  expect(state.opened).toMatchObject([
    { by: 'anna, bob', why: 'CVE-2027-1', early: true },
    { by: 'anna, bob', why: 'CVE-2027-1', early: true },
  ]);
  expect((await run('status')).out).toContain('registry.example.com/sea/catalog:v4.20\n');
});

test('what is held is not promoted until it is released', async () => {
  const run = await published();
  const bundle = ['--bundle', 'harbour-operator.v1.2.0'];
  expect(await run('ring', 'hold', 'v4.20', ...bundle, ...REPO(), '--reason', 'loses data')).toMatchObject({
    exit: 0,
    out: 'held v4.20 harbour-operator.v1.2.0\n',
  });
  const promote = ['ring', 'promote', 'v4.20', 'v4.20-early', ...REPO(), '--reason', 'hurry'];
  const refused = await run(...promote);
  expect(refused.exit).toBe(2);
  expect(refused.err).toContain('is held for harbour-operator.v1.2.0 by anna since 2027-01-01: loses data');
  const release = 'portolan ring hold v4.20 --bundle harbour-operator.v1.2.0 --release --reason TEXT';
  expect(refused.err).toContain(`release it first: ${release}\n`);
  expect((await run('rings')).out).toContain(
    '  held  harbour-operator.v1.2.0 by anna since 2027-01-01: loses data\n',
  );
  expect((await run('ring', 'hold', 'v4.20', '--release', ...REPO(), '--reason', 'x')).err).toContain(
    'there is no hold on v4.20\n  held: --bundle harbour-operator.v1.2.0',
  );
  expect((await run(...release.split(' ').slice(1), ...REPO())).exit).toBe(0);
  expect((await run(...promote)).exit).toBe(0);
});

test('what cannot be done says why: no such ring, no such image, no rings', async () => {
  const run = await published();
  const why = ['--reason', 'x', ...REPO()];
  expect((await run('ring', 'promote', 'v4.20', 'v4.20-canary', ...why)).err).toContain(
    'v4.20-canary is not a ring that can be opened\n  rings: v4.20-early, v4.20',
  );
  const other = 'a'.repeat(40);
  expect((await run('ring', 'promote', 'v4.20', 'v4.20', '--commit', other, ...why)).err).toContain(
    `no ring has an image of ${other}\n  commits in the rings: ${MAIN()}\n`,
  );
  for (const act of [
    ['hold', 'other'],
    ['ring', 'promote', 'other', 'other'],
  ])
    expect((await run(...act, ...why)).err).toContain('there is no catalog other\n  catalogs: v4.20');
});

test('a hold that is about no image is refused, and nothing is held', async () => {
  const run = await published();
  const hold = (...words: readonly string[]) => run('hold', ...words, ...REPO(), '--reason', 'x');
  expect(await hold('v4.20', '--bundle', 'harbour.v1.2.0')).toMatchObject({
    exit: 2,
    out: '',
    err: expect.stringContaining('no image of v4.20 has the bundle harbour.v1.2.0\n  see portolan ring list'),
  });
  const other = 'a'.repeat(40);
  expect((await hold('v4.20', '--commit', other)).err).toContain(`no image of v4.20 has the commit ${other}`);
  expect((await run('ring', 'list')).out).not.toContain('held');
  expect(await hold('v4.20', '--bundle', 'harbour-operator.v1.2.0')).toMatchObject({ exit: 0, err: '' });
  expect(await hold('v4.20')).toMatchObject({ exit: 0, err: '' });
});

test('places that exclude each other are refused', async () => {
  const run = await published();
  const hold = (...words: readonly string[]) => run('ring', 'hold', 'v4.20', '--reason', 'x', ...words);
  expect((await hold('--print-message', 'sea/catalogs', '--fence', 'repo')).err).toContain(
    '--print-message and --fence cannot be used together',
  );
  expect((await hold('--branch', 'main')).err).toContain('--branch needs --print-message');
});

test('a record that cannot be read is named, beside what is published', async () => {
  const run = await published();
  const records = directoryRecords(join(run.directory, '.portolan/records'));
  const [key = ''] = await records.list('rings/');
  await records.put(key, new TextEncoder().encode('{"v":1}'));
  const why = `cannot read the rings in ${key}: catalog: missing, expected text`;
  expect(await run('rings')).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(why) });
  const held = await run('ring', 'hold', 'v4.20', ...REPO(), '--reason', 'x');
  expect(held).toMatchObject({ exit: 2, err: expect.stringContaining(why) });
  const status = await run('status');
  expect(status.exit).toBe(1);
  expect(status.out).toContain('registry.example.com/sea/catalog:v4.20-canary\n');
  expect(status.out).toContain(why);
});

test.each(['', 'no', '{"published":[],"last":[],"rings":{}}'])('%j is not a status', async (input) => {
  const ran = await runCommand(['ring', 'list', '--from', '-'], {
    directory: folder(),
    input: async () => input,
  });
  expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining('standard input is not a status') });
});

test('what the functions would refuse is refused in a directory as well', async () => {
  const run = await published();
  const hold = (...words: readonly string[]) => run('ring', 'hold', 'v4.20', ...REPO(), ...words);
  const short = await hold('--commit', MAIN().slice(0, 12), '--reason', 'x');
  expect(short).toMatchObject({ exit: 2, err: expect.stringContaining('must be a whole commit ID') });
  expect((await hold('--reason', ' ')).err).toContain('its why is " ", expected 1 to 500 characters');
});

test('the former names of the commands and of their option are understood', async () => {
  const run = await published();
  const words = ['v4.20', '--reason', 'freeze'];
  const { out } = await run('ring', 'hold', ...words, '--print-message', 'sea/catalogs');
  expect((await run('hold', ...words, '--message', 'sea/catalogs')).out).toBe(out);
  const list = ['.portolan', '--json'];
  expect((await run('rings', ...list)).out).toBe((await run('ring', 'list', ...list)).out);
});

test('the message for the queue of the functions is one that they read', async () => {
  const run = await published();
  const ran = await run('ring', 'hold', 'v4.20', '--reason', 'freeze', '--print-message', 'sea/catalogs');
  expect(readWork(ran.out)).toEqual({
    ...{ v: 1, kind: 'ring', repository: 'sea/catalogs', branch: 'main', catalog: 'v4.20' },
    ...{ act: 'hold', by: 'anna', why: 'freeze' },
  });
  expect((await run('ring', 'hold', 'v4.20', '--reason', 'freeze', '--print-message', 'sea')).err).toContain(
    'expected owner/name',
  );
  // What a queue delivers late is about the time at which it was asked for.
  const sent = ['--reason', 'x', '--print-message', 'sea/catalogs'];
  for (const words of [
    ['ring', 'hold', 'v4.20', '--release'],
    ['ring', 'promote', 'v4.20', 'v4.20'],
  ])
    expect(readWork((await run(...words, ...sent)).out)).toMatchObject({
      asked: expect.stringMatching(/^2027-01-.*Z$/),
    });
});

test('images are held in the refs that the Action keeps, with every change as a commit', async () => {
  const run = await published();
  const words = ['ring', 'hold', 'v4.20', '--fence', 'repo', ...REPO()];
  expect(await run(...words, '--reason', 'freeze')).toMatchObject({ exit: 0, out: 'held v4.20\n' });
  const [ref = ''] = sample.git('for-each-ref', '--format=%(refname)', 'refs/portolan-rings').split('\n');
  expect(JSON.parse(sample.git('show', `${ref}:claim.json`))).toMatchObject({
    holds: [{ by: 'anna', why: 'freeze' }],
  });
  expect((await run(...words, '--release', '--reason', 'over')).exit).toBe(0);
  expect(sample.git('rev-list', '--count', ref).trim()).toBe('2');
  expect(JSON.parse(sample.git('show', `${ref}:claim.json`))).toMatchObject({ holds: [] });
});
