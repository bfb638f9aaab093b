/** A job of the sample's repository that asks for a publish: what it sends, and what the address knows of it. */
import { ROOM } from '../../functions/aws/http.ts';
import type { AskPorts, JobRequest } from '../../functions/publish-request.ts';

export interface Job {
  readonly branch: string;
  readonly commit: string;
  /** Number of the run. */
  readonly run: number;
}

export function jobThatAsks({ branch, commit, run }: Job): {
  readonly asking: JobRequest;
  readonly known: Pick<AskPorts, 'sources' | 'issuer' | 'readToken' | 'room' | 'log'>;
} {
  const workflow = `sea/catalogs/w.yml@refs/heads/${branch}`;
  const audience = 'https://ask.example';
  const issuer = 'https://issuer.example';
  const claims = {
    ...{ iss: issuer, aud: audience, repository: 'sea/catalogs', ref: `refs/heads/${branch}` },
    ...{ repository_id: '1', repository_owner_id: '2', event_name: 'push', run_id: `${run}` },
    ...{ workflow_ref: workflow, job_workflow_ref: workflow, nbf: 0, exp: 4e9 },
  };
  const body = new TextEncoder().encode(JSON.stringify({ commit, catalog: 'v4.20' }));
  const url = 'https://example.com/x.git';
  const job = { ownerId: 2, workflow: 'w.yml' };
  return {
    asking: { headers: { authorization: 'Bearer x.y.z' }, body, audience },
    known: {
      sources: [{ repository: 'sea/catalogs', id: 1, branch, url, job }],
      issuer,
      readToken: async () => claims,
      room: ROOM,
      log: () => undefined,
    },
  };
}
