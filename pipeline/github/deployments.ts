/** What was published, on the commit that it was published from: one environment for each catalog. */
import { isObject } from '../../catalog/shape.ts';
import type { PublishReceipt } from '../publish/receipt.ts';
import { answer, answerIfAny, type GitHub, type RepositoryName } from './client.ts';

export interface Deployed {
  /** Id of the commit. */
  readonly commit: string;
  /** Of the manifest list; undefined where the deployment does not say it. */
  readonly digest: string | undefined;
}

function environmentOf(catalog: string): string {
  return `catalog/${catalog}`;
}

/** The last deployment of a catalog; undefined for a catalog that was never published, or when it may not be seen. */
export async function lastDeployed(
  github: GitHub,
  repository: RepositoryName,
  catalog: string,
): Promise<Deployed | undefined> {
  const environment = environmentOf(catalog);
  const [last] =
    (await answerIfAny(
      github.request('GET /repos/{owner}/{repo}/deployments', { ...repository, environment, per_page: 1 }),
    )) ?? [];
  if (!last) return undefined;
  const payload: unknown = typeof last.payload === 'string' ? parsed(last.payload) : last.payload;
  const digest = isObject(payload) ? payload['digest'] : undefined;
  return { commit: last.sha, digest: typeof digest === 'string' ? digest : undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Notes what was published; a deployment is made only of what succeeded. @throws PipelineError as the client */
export async function noteDeployed(
  github: GitHub,
  repository: RepositoryName,
  { receipt, link }: { readonly receipt: PublishReceipt; readonly link: string | undefined },
): Promise<void> {
  const deployment = await answer(
    github.request('POST /repos/{owner}/{repo}/deployments', {
      ...repository,
      ref: receipt.commit,
      environment: environmentOf(receipt.catalog),
      auto_merge: false,
      required_contexts: [],
      description: receipt.digest,
      payload: { ...receipt },
    }) as Promise<{ data: { id?: number | bigint } }>,
  );
  // GitHub answers without one when it merged something first, which it was told not to do.
  if (deployment.id === undefined) return;
  await answer(
    github.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
      ...repository,
      deployment_id: Number(deployment.id),
      state: 'success',
      description: receipt.image.slice(0, 140),
      ...(link === undefined ? {} : { log_url: link }),
    }),
  );
}
