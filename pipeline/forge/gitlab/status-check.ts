/** External status checks: services whose answer a merge request waits for (GitLab Ultimate, `doc/api/status_checks.md`). */
import { PipelineError } from '../../error.ts';
import { type ForgeClient, readable } from '../http.ts';
import { object, text, whole } from '../reply.ts';

const statusCheck = object({ id: whole, name: text });

/** Replies for a merge request. GitLab fails a check that is pending for two minutes, so Portolan never sends "pending". */
interface StatusAnswer {
  readonly commit: string;
  readonly passed: boolean;
}

/**
 * Answers the external status checks of a name; there are none where the plan lacks them.
 *
 * @param at path of the merge request
 */
export async function answerStatusChecks(
  client: ForgeClient,
  at: string,
  name: string,
  { commit, passed }: StatusAnswer,
): Promise<void> {
  const found = await readable(client.pages(`${at}/status_checks`, statusCheck));
  for (const check of (found ?? []).filter((one) => one.name === name)) {
    const said = { external_status_check_id: check.id, sha: commit, status: passed ? 'passed' : 'failed' };
    await client.send('POST', `${at}/status_check_responses`, said).catch((error: unknown) => {
      // The merge request has a newer head, which another run answers for.
      if (!(error instanceof PipelineError && error.code === 'conflict')) throw error;
    });
  }
}
