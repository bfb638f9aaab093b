import { expect, onTestFinished, test, vi } from 'vitest';
import { checkPullRequest } from '../../../../pipeline/check/check.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { BASE } from '../../../fakes/gate.ts';
import { makeRepository } from '../../../fakes/repository.ts';

test('156: what closes a pull request is looked up, not searched for each finding', async () => {
  const cases = (i: number): string =>
    [...'abcdefghijkl'].map((letter, k) => ((i >> k) & 1 ? letter.toUpperCase() : letter)).join('');
  const keys = Array.from({ length: 3000 }, (_, i) => `"${cases(i)}":1`);
  const made = makeRepository();
  onTestFinished(made.remove);
  const [base = '', head = ''] = made.chain(BASE, {
    'catalogs/v4.20/etcd/x.json': `{"schema":"x.y","package":"etcd",${keys.join(',')}}`,
  });
  const repository = await openRepository(made.directory);
  onTestFinished(() => repository.close());
  const includes = vi.spyOn(Array.prototype, 'includes');
  onTestFinished(() => includes.mockRestore());
  const { findings, verdict } = await checkPullRequest(repository, { base, head, today: '2026-01-01' });
  const searched = includes.mock.contexts.filter((list) => Array.isArray(list) && list.length > 1000);
  includes.mockRestore();
  expect([verdict, findings.length > 0, searched.length]).toEqual(['fail', true, 0]);
});
