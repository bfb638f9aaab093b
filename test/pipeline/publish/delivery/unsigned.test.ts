/** What nobody can sign is refused before anything is built: no retry helps. */
import { expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import { handleMessage } from '../../../../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf } from '../../../../pipeline/publish/delivery/message.ts';
import { outcomeAt } from '../../../../pipeline/publish/delivery/outcome.ts';
import { deliver } from '../../../fakes/delivery.ts';
import { harbourRepository } from '../../../fakes/sample.ts';

test('a function refuses attest: [keyless] on the line of the policy, and pushes nothing', async () => {
  const sample = harbourRepository();
  const policy = sample.git('show', `main:${POLICY_PATH}`);
  const keyless = policy.replace('      platforms:', '      attest: [keyless]\n      platforms:');
  const commit = sample.commit(
    { [POLICY_PATH]: `${keyless}\n` },
    { parents: [sample.base], branch: 'keyless' },
  );
  const work = { v: 1, kind: 'catalog', repository: 'sea/catalogs', commit, catalog: 'v4.20' } as const;
  const { calls } = await deliver({
    directory: sample.directory,
    pushes: [],
    last: async (living) => {
      const ports = { ...living(), isAnonymous: true };
      await handleMessage(messageOf({ ...work, branch: 'keyless' }).body, ports);
      expect(await outcomeAt(ports.records, work)).toMatchObject({
        state: 'refused',
        detail:
          'policy/unsigned: attest: [keyless] needs the OIDC identity of a job, but this publisher is a function without one',
      });
    },
  });
  expect(calls.filter((call) => call.startsWith('registry.'))).toEqual([]);
  sample.remove();
});
