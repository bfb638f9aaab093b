/** A pull request that changes the policy: what would be wrong with it after the merge is said before. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import type { CheckReport } from '../../../../pipeline/check/report.ts';
import { openRepository, type Repository } from '../../../../pipeline/git/repository.ts';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import { BASE, POLICY } from '../../../fakes/gate.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';

let source: TestRepository;
let repository: Repository;
let base: string;
beforeEach(async () => {
  source = makeRepository();
  base = source.commit(BASE);
  repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  source.remove();
});

function judged(policy: string): Promise<CheckReport> {
  const head = source.commit({ [POLICY_PATH]: policy }, { parents: [base], branch: 'change' });
  return checkPullRequest(repository, { base, head, today: '2026-01-01' });
}

const said = ({ verdict, findings }: CheckReport) => [
  verdict,
  ...findings.map(({ rule, location: { file, line } }) => `${rule} ${file}:${line}`),
];

test('one that is whole passes', async () => {
  expect(said(await judged(`${POLICY}branches: [main]\n`))).toEqual(['pass']);
});

test('keys and rules that there are not, and values of another kind, fail on their lines', async () => {
  const lines = POLICY.split('\n').length;
  for (const [wrong, rule] of [
    ['brnches: [main]', 'policy/unknown-key'],
    ['rules: {fbc/nothing: warning}', 'policy/unknown-key'],
    ['branches: 7', 'policy/value'],
  ])
    expect(said(await judged(`${POLICY}${wrong}\n`))).toEqual(['fail', `${rule} ${POLICY_PATH}:${lines}`]);
  expect(said(await judged('- no\n- policy\n'))[0]).toBe('fail');
});

test('one that is too large to be read fails', async () => {
  const { verdict, findings } = await judged(`${POLICY}# ${'x'.repeat(1_100_000)}\n`);
  expect(verdict).toBe('fail');
  expect(findings).toMatchObject([
    { rule: 'policy/file', message: 'the policy is larger than 1048576 bytes' },
  ]);
});

test('two catalogs of one place fail', async () => {
  const image = `publish: {catalogs: {'v*': {image: 'quay.io/sea/catalog:latest'}}}\n`;
  expect(said(await judged(`${POLICY}${image}`))).toEqual([
    'fail',
    expect.stringMatching(/^policy\/shared-place /),
  ]);
});
