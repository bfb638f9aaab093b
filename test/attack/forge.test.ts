/** The Action against GitHub: what it asks, what it fetches, what it says, and what it withstands there. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BASE, catalogOf, PEOPLE } from '../fakes/gate.ts';
import { type FakeForge, type FakePull, startForge } from '../fakes/github/forge.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { type Files, makeRepository, type TestRepository } from '../fakes/repository.ts';
import { runStep, type Stepped } from '../fakes/step.ts';

beforeAll(() => void execFileSync(process.execPath, ['scripts/build.mjs']));

let repository: TestRepository;
let forge: FakeForge;
let base: string;
beforeEach(async () => {
  repository = makeRepository();
  base = repository.commit(BASE);
  forge = await startForge(
    repository,
    Object.values(PEOPLE).flatMap(({ login, id }) => (id === undefined ? [] : [{ login, id }])),
  );
});
afterEach(async () => {
  await forge.close();
  repository.remove();
  expect(forge.defects).toEqual([]);
});

const ADDITION: Files = {
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
};

function open(head: Files, more: Partial<FakePull> = {}): FakePull {
  const number = forge.pulls.size + 7;
  const branch = `pull-${number}`;
  const author = more.author ?? 'bob';
  const pull: FakePull = {
    number,
    author,
    base,
    head: repository.commit(head, { parents: [base], branch, author }),
    branch,
    pusher: author,
    draft: false,
    state: 'open',
    labels: [],
    reviews: [],
    ...more,
  };
  forge.pulls.set(number, pull);
  return pull;
}

function stepOn(pull: FakePull, more: { action?: string; sender?: string } = {}): Promise<Stepped> {
  return runStep({ event: 'pull_request_target', payload: pullPayload(forge, pull, more), forge });
}

describe('a pull request', () => {
  test('that its owner may make is allowed, and said so everywhere', async () => {
    const pull = open(ADDITION);
    const { status, log, outputs, summary } = await stepOn(pull);
    expect(log).not.toContain('::error');
    expect(status).toBe(0);
    expect(outputs).toMatchObject({ verdict: 'pass', authority: 'allow', state: 'success' });
    expect(summary).toContain('allowed and green');
    expect(forge.statuses).toMatchObject([
      { sha: pull.head, context: 'portolan', state: 'success', description: 'allowed and green' },
    ]);
    expect(forge.checkRuns).toMatchObject([
      { head_sha: pull.head, name: 'portolan / checks', conclusion: 'success', annotations: [] },
    ]);
    expect(forge.comments.get(pull.number)).toMatchObject([{ by: 'github-actions[bot]' }]);
  });
});
