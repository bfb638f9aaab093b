/**
 * What a job's identity token must say before something is published for it. The signature is
 * the host's to check, by GitHub's keys; `sub` is not looked at, since its form depends on when
 * the repository was made, and a repository's name can be taken by somebody else.
 *
 * @see https://docs.github.com/en/actions/concepts/security/openid-connect
 */
import { PipelineError } from '../error.ts';

export const ISSUER = 'https://token.actions.githubusercontent.com';

interface ExpectedJob {
  /** {@link ISSUER} when left out. */
  readonly issuer?: string | undefined;
  /** The token's audience: the URL that the job calls, with or without a slash at its end. */
  readonly audience: string;
  /** Numbers of the repository and of its owner, which no other one ever has. */
  readonly repositoryId: string;
  readonly ownerId: string;
  /** `refs/heads/main`. */
  readonly ref: string;
  /** Path of the workflow that may publish, which is the job's own: none of another repository. */
  readonly workflow: string;
  /** Of the job: only who may use it can publish. Any when undefined. */
  readonly environment: string | undefined;
}

/** Events with which nobody outside the repository can run a workflow of their own. */
const EVENTS: ReadonlySet<unknown> = new Set(['push', 'schedule', 'workflow_dispatch', 'workflow_run']);

/** How far clocks may be apart, in s. */
const SKEW = 60;

/**
 * Checks the claims of a token.
 *
 * @param now seconds since 1970
 * @throws PipelineError `denied` that names the first claim that is not as expected
 */
export function validateClaims(
  claims: Readonly<Record<string, unknown>>,
  expected: ExpectedJob,
  now: number,
): void {
  const { issuer = ISSUER, audience, repositoryId, ownerId, ref, workflow, environment } = expected;
  const same = (name: string, wanted: string | undefined): void => {
    if (wanted !== undefined && claims[name] !== wanted) throw deniedClaim(name, claims[name], wanted);
  };
  same('iss', issuer);
  if (typeof claims['aud'] !== 'string' || withoutSlash(claims['aud']) !== withoutSlash(audience))
    throw deniedClaim('aud', claims['aud'], audience);
  same('repository_id', repositoryId);
  same('repository_owner_id', ownerId);
  same('ref', ref);
  same('environment', environment);
  if (!EVENTS.has(claims['event_name']))
    throw deniedClaim('event_name', claims['event_name'], [...EVENTS].join(', '));
  // The repository's number was looked at: its name is only what the paths begin with.
  const workflowRef = `${claims['repository']}/${workflow}@${ref}`;
  same('workflow_ref', workflowRef);
  same('job_workflow_ref', workflowRef);
  const [from, until] = [claims['nbf'] ?? claims['iat'], claims['exp']];
  if (typeof until !== 'number' || until < now - SKEW) throw deniedClaim('exp', until, `after ${now}`);
  if (typeof from !== 'number' || from > now + SKEW) throw deniedClaim('nbf', from, `before ${now}`);
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

function deniedClaim(name: string, found: unknown, expected: string): PipelineError {
  const shown = JSON.stringify(found)?.slice(0, 200) ?? 'nothing';
  return new PipelineError('denied', `the job's identity token has ${name} ${shown}, expected ${expected}`);
}
