/** The label of a result, on a fake GitHub that checks every request by GitHub's own description. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CheckReport } from '../../../pipeline/check/report.ts';
import { followLabels, involvePeople, labelOf } from '../../../pipeline/github/involve.ts';
import { unpaced } from '../../fakes/github/client.ts';
import type { FakePull } from '../../fakes/github/forge.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';
import { GREEN } from '../../fakes/report.ts';

let hub: Hub;
let pull: FakePull;
beforeEach(async () => {
  hub = await openHub();
  pull = hub.open({ 'README.md': 'x' }, { labels: ['kind/bug', 'portolan/theirs'] });
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const at = () => ({
  github: unpaced(hub.forge),
  repository: { owner: 'example', repo: 'catalogs' },
});
const needs = { ...GREEN.authority, decision: 'needs', needs: ['an approval'] } as const;
const RED: CheckReport = { ...GREEN, verdict: 'fail' };
const WAITING: CheckReport = { ...GREEN, authority: needs };
const follow = (report: CheckReport) => followLabels(at(), { number: pull.number, report });
const writes = () =>
  hub.forge.asked.map(({ operation }) => operation).filter((operation) => !operation.startsWith('GET'));

test.each<[string, CheckReport]>([
  ['portolan/passed', GREEN],
  ['portolan/failed', RED],
  ['portolan/failed', { ...GREEN, authority: { ...needs, decision: 'deny' } }],
  ['portolan/failed', { ...RED, enforce: 'off' }],
  ['portolan/needs-approval', WAITING],
  ['portolan/pending', { ...GREEN, holds: ['a draft'] }],
  ['portolan/pending', { ...GREEN, waitsFor: ['ci'] }],
  ['portolan/pending', { ...WAITING, verdict: 'inconclusive' }],
])('%s', (name, report) => {
  expect(labelOf(report).name).toBe(name);
});

test('the label of the new result replaces that of the one before, and no other label', async () => {
  await follow(WAITING);
  expect(pull.labels).toEqual(['kind/bug', 'portolan/theirs', 'portolan/needs-approval']);
  await follow(RED);
  expect(pull.labels).toEqual(['kind/bug', 'portolan/theirs', 'portolan/failed']);
  await follow(GREEN);
  expect(pull.labels).toEqual(['kind/bug', 'portolan/theirs', 'portolan/passed']);
  expect(hub.forge.labels).toEqual(
    new Map([
      ['portolan/needs-approval', 'fbca04'],
      ['portolan/failed', 'd93f0b'],
      ['portolan/passed', '0e8a16'],
    ]),
  );
});

test('the same result writes nothing again', async () => {
  await follow(GREEN);
  const before = writes().length;
  await follow(GREEN);
  expect(writes()).toHaveLength(before);
});

test('a label that the repository has keeps its colour; where the job may not create one, GitHub does', async () => {
  hub.forge.labels.set('portolan/passed', '123456');
  await follow(GREEN);
  expect(hub.forge.labels.get('portolan/passed')).toBe('123456');
  hub.forge.faults = [
    ({ operation }) => (operation === 'POST /repos/{owner}/{repo}/labels' ? { status: 403 } : undefined),
  ];
  await follow(RED);
  expect(pull.labels).toContain('portolan/failed');
  expect(hub.forge.labels.get('portolan/failed')).toBe('ededed');
});

test('without the policy’s word no label is asked for, and a refusal is only noted', async () => {
  const noted: unknown[] = [];
  const involving = {
    attempt: (what: string, act: () => Promise<void>) =>
      act().catch((error: Error) => void noted.push(`${what}: ${error.message.slice(0, 19)}`)),
    info: () => undefined,
    warning: () => undefined,
  };
  const asked = (labels: boolean) => {
    const request = { ...GREEN.request, suggestions: false, ask: false, ...(labels ? { labels } : {}) };
    const report = { ...GREEN, request } as CheckReport;
    const post = { ...at(), link: undefined, annotations: 1 };
    return involvePeople(post, { number: pull.number, report }, involving);
  };
  await asked(false);
  expect(hub.forge.asked).toEqual([]);
  hub.forge.faults = [({ operation }) => (operation.startsWith('POST') ? { status: 403 } : undefined)];
  await asked(true);
  expect(noted).toEqual(['labels: GitHub returned 403']);
  expect(pull.labels).toEqual(['kind/bug', 'portolan/theirs']);
});
