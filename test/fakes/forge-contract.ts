/** What every forge must do, whichever adapter asks it. */
import { expect, test } from 'vitest';
import type { Ancestry, GateForge } from '../../pipeline/forge/forge.ts';
import { gatePullRequest } from '../../pipeline/forge/gate.ts';
import { statusOf } from '../../pipeline/forge/status.ts';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { catalogOf, PEOPLE, POLICY, type Who } from './gate.ts';
import type { Files } from './repository.ts';

/** A repository on a forge: etcd belongs to bob, and the policy is that of `gate.ts`. */
export interface ForgeScene {
  readonly forge: GateForge;
  /** The repository over HTTP, and a token to fetch it with. */
  readonly git: string;
  readonly token: string;
  /** Changes the base branch. */
  moveBase(files: Files): void;
  /** Opens a pull request, whose author pushes its one commit. @param pushed whether the forge says who pushed */
  open(files: Files, author: Who, pushed?: boolean): { readonly number: number; readonly head: string };
  /** Pushes one more commit to it. @returns its id */
  push(number: number, files: Files, author: Who): string;
  review(number: number, by: Who, state: 'approve' | 'reject' | 'dismissed', commit: string): void;
  /** Writes a comment. */
  comment(number: number, by: Who, body: string): void;
  /** Statuses in the order in which they were set. */
  statuses(commit: string): readonly { readonly context: string; readonly state: string }[];
  comments(number: number): readonly { readonly by: string; readonly body: string }[];
}

const [BEFORE, AFTER, LATER] = [['1.0.0', '1.1.0'], ['1.2.0'], ['1.3.0']];

function etcd(...more: readonly string[][]): Files {
  const versions = [BEFORE, ...more].flatMap((some = []) => some);
  return { 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions) };
}

/** @param open opens a scene that closes itself with the test */
export function forgeContract(name: string, open: () => Promise<ForgeScene>): void {
  const checked = async ({ forge, git, token }: ForgeScene, number: number) => {
    const remote = { url: git, header: authorizationHeader(token) };
    const ports = { forge, remote, git: { searchPath: process.env['PATH'] }, today: '2026-01-01' };
    const outcome = await gatePullRequest(ports, { number });
    if (outcome.kind !== 'checked') throw new Error(outcome.why);
    return outcome.report;
  };

  test(`${name}: a stranger's change needs its owner, whose approval counts for what it saw`, async () => {
    const scene = await open();
    const { number, head } = scene.open(etcd(AFTER ?? []), 'mallory');
    expect(await checked(scene, number)).toMatchObject({
      head,
      verdict: 'pass',
      authority: {
        decision: 'needs',
        author: 'mallory',
        missing: [{ from: expect.arrayContaining(['bob']) }],
      },
    });
    scene.review(number, 'carol', 'approve', head);
    expect((await checked(scene, number)).authority.decision).toBe('needs');
    scene.review(number, 'bob', 'approve', head);
    expect((await checked(scene, number)).authority.decision).toBe('allow');
    // Something else is something that bob has not seen.
    const next = scene.push(number, etcd(AFTER ?? [], LATER ?? []), 'mallory');
    expect(await checked(scene, number)).toMatchObject({ head: next, authority: { decision: 'needs' } });
  });

  test(`${name}: what somebody said last counts`, async () => {
    const scene = await open();
    const { number, head } = scene.open(etcd(AFTER ?? []), 'mallory');
    scene.review(number, 'bob', 'approve', head);
    scene.review(number, 'bob', 'reject', head);
    expect((await checked(scene, number)).authority.decision).not.toBe('allow');
    scene.review(number, 'bob', 'approve', head);
    expect((await checked(scene, number)).authority.decision).toBe('allow');
    scene.review(number, 'bob', 'dismissed', head);
    expect((await checked(scene, number)).authority.decision).toBe('needs');
  });

  test(`${name}: an owner's own word counts, unless others wrote or nobody knows who pushed`, async () => {
    const scene = await open();
    const own = scene.open(etcd(AFTER ?? []), 'bob');
    expect((await checked(scene, own.number)).authority.decision).toBe('allow');
    const hidden = scene.open(etcd(AFTER ?? []), 'bob', false);
    const { authority } = await checked(scene, hidden.number);
    expect(authority.decision).toBe('needs');
    expect(authority.reasons.join()).toContain('it is unknown who pushed the head');
    scene.push(own.number, etcd(AFTER ?? [], LATER ?? []), 'mallory');
    expect((await checked(scene, own.number)).authority.decision).toBe('needs');
  });

  test(`${name}: a list of commits that was read before the head was pushed says nothing of the head`, async () => {
    const scene = await open();
    const { number } = scene.open(etcd(AFTER ?? []), 'bob');
    const early = await scene.forge.readCommits(number);
    scene.push(number, etcd(AFTER ?? [], LATER ?? []), 'bob');
    expect((await checked(scene, number)).authority.decision).toBe('allow');
    const { ancestry } = scene.forge;
    // Where the forge lists them with the sides, those are of the head that is asked about.
    const readSides: Ancestry['readSides'] = async (base, head) => {
      const { commits: _, ...sides } = (await ancestry?.readSides(base, head)) ?? {};
      return 'base' in sides ? sides : undefined;
    };
    const apart = ancestry ? { ancestry: { ...ancestry, readSides } } : {};
    const forge = { ...scene.forge, ...apart, readCommits: async () => early };
    const { authority } = await checked({ ...scene, forge }, number);
    expect(authority.decision).toBe('needs');
    expect(authority.reasons.join()).toContain('not listed with the pull request');
  });

  test(`${name}: what was published once and is gone still counts`, async () => {
    const scene = await open();
    const of = (...versions: readonly string[]): Files => ({
      'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', versions),
    });
    scene.moveBase(of('1.0.0', '1.0.1', '1.1.0'));
    scene.moveBase(of('1.1.0'));
    // The upgrade path from 1.0.1, which only the past knows, ends here.
    const { number } = scene.open(of('1.2.0'), 'bob');
    const { findings, unchecked } = await checked(scene, number);
    expect(findings.flatMap(({ installed = [] }) => installed)).toContain('1.0.1');
    expect(unchecked.map(({ what }) => what)).not.toContain('earlier published versions');
  });

  test(`${name}: a package that is new has no past`, async () => {
    const scene = await open();
    const added = { 'catalogs/v4.20/new/catalog.yaml': catalogOf('new', ['1.0.0']) };
    const { number } = scene.open(added, 'alice');
    const { verdict, unchecked } = await checked(scene, number);
    expect(verdict).toBe('pass');
    expect(unchecked.map(({ what }) => what)).not.toContain('earlier published versions');
  });

  test(`${name}: a status and one comment say the result; nobody else's comment is written over`, async () => {
    const scene = await open();
    const { number, head } = scene.open(etcd(AFTER ?? []), 'mallory');
    scene.comment(number, 'mallory', '<!-- portolan:v1 -->\nall checks passed');
    const report = await checked(scene, number);
    await scene.forge.postStatus(statusOf([report]));
    expect(scene.statuses(head)).toEqual([{ context: 'portolan', state: 'pending' }]);
    for (const headline of ['first', 'second', 'second'])
      expect(await scene.forge.postComment({ number, report: { ...report, headline } })).toBe(true);
    const [theirs, ours, ...more] = scene.comments(number);
    expect(theirs).toEqual({ by: 'mallory', body: '<!-- portolan:v1 -->\nall checks passed' });
    expect(ours?.body).toContain('second');
    expect(more).toEqual([]);
    scene.push(number, etcd(AFTER ?? [], LATER ?? []), 'mallory');
    expect(await scene.forge.postComment({ number, report }), 'of a head that has moved on').toBe(false);
  });

  test(`${name}: nothing is merged where the forge does not vouch for everything`, async () => {
    const scene = await open();
    scene.moveBase({ '.github/portolan.yaml': `${POLICY}merge: {mode: auto}\n` });
    const { number } = scene.open(etcd(AFTER ?? []), 'bob');
    const { request, byHand = [] } = await checked(scene, number);
    const [lack] = scene.forge.missingGuarantees;
    expect(request?.merge.mode).toBe(lack === undefined ? 'auto' : 'off');
    expect(byHand.filter((why) => why.includes('does not merge on'))).toEqual(
      lack === undefined ? [] : [`Portolan does not merge on ${scene.forge.name}: ${lack}`],
    );
  });

  test(`${name}: a required check that cannot be found keeps it waiting`, async () => {
    const scene = await open();
    scene.moveBase({ '.github/portolan.yaml': `${POLICY}checks: {required: [{name: tests, app: 7}]}\n` });
    const { number } = scene.open(etcd(AFTER ?? []), 'bob');
    expect((await checked(scene, number)).waitsFor).toEqual([expect.stringContaining('"tests"')]);
  });

  test(`${name}: logins are those of accounts that exist, and numbers those of their holders`, async () => {
    const { forge } = await open();
    const account = (login: string) => ({ kind: 'account' as const, login, id: undefined });
    const { accounts } = await forge.readDirectory([account('Bob'), account('nobody-has-it')]);
    expect([...accounts]).toEqual([
      ['bob', PEOPLE.bob.id],
      ['nobody-has-it', null],
    ]);
  });
}
