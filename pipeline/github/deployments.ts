/** Deployments on the published commits, in one environment for each catalog. */

import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import type { BundleName } from '../catalogs/release/bundle-image.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { DESCRIPTION } from '../forge/marks.ts';
import type { ReleasedUpTo } from '../publish/delivery/ports.ts';
import type { PublishReceipt } from '../publish/receipt.ts';
import { answerIfAny, dataOf, type GitHub } from './client.ts';

export interface Deployed {
  /** Id of the commit. */
  readonly commit: string;
  /** Digest of the manifest list; undefined if the deployment does not have it. */
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
  const last = await lastIn(github, repository, environmentOf(catalog));
  if (!last) return undefined;
  const digest = last.payload['digest'];
  return { commit: last.commit, digest: typeof digest === 'string' ? digest : undefined };
}

/** The environment in which it is noted up to which commit of a branch bundles were released. */
export function bundlesEnvironment(branch: string, defaultBranch: string): string {
  return branch === defaultBranch ? 'bundles' : `bundles/${branch}`;
}

/** How far bundles of a branch were released; undefined when none ever was, or that may not be seen. */
export async function lastReleased(
  github: GitHub,
  repository: RepositoryName,
  environment: string,
): Promise<ReleasedUpTo | undefined> {
  const last = await lastIn(github, repository, environment);
  if (!last) return undefined;
  const { commit, payload } = last;
  const refused = textsIn(payload['refused']).flatMap(bundleNamed);
  return { commit, refused, missing: textsIn(payload['missing']) };
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
}

function bundleNamed(text: string): BundleName[] {
  const [, name, version] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return name !== undefined && version !== undefined ? [{ package: name, version }] : [];
}

interface Last {
  readonly commit: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The newest deployment in an environment; undefined if there is none, or if it may not be seen. */
async function lastIn(
  github: GitHub,
  repository: RepositoryName,
  environment: string,
): Promise<Last | undefined> {
  const [last] =
    (await answerIfAny(github.rest.repos.listDeployments({ ...repository, environment, per_page: 1 }))) ?? [];
  if (!last) return undefined;
  const payload: unknown = typeof last.payload === 'string' ? parsedJson(last.payload) : last.payload;
  return { commit: last.sha, payload: isObject(payload) ? payload : {} };
}

/** Notes what was published; a deployment is made only of what succeeded. @throws PipelineError as the client */
export function noteDeployed(
  github: GitHub,
  repository: RepositoryName,
  { receipt, link }: { readonly receipt: PublishReceipt; readonly link: string | undefined },
): Promise<void> {
  const { commit, catalog, digest, image } = receipt;
  const environment = environmentOf(catalog);
  const fields = { environment, description: digest, payload: { ...receipt }, state: image };
  return note(github, repository, { ...fields, commit, link });
}

export interface ReleasedNote extends ReleasedUpTo {
  readonly environment: string;
  readonly bundles: readonly BundleName[];
  readonly link: string | undefined;
}

/** Notes what had arrived at a commit, and what of it was refused. @throws PipelineError as the client */
export function noteReleased(
  github: GitHub,
  repository: RepositoryName,
  { environment, commit, bundles, refused, missing, link }: ReleasedNote,
): Promise<void> {
  const count = `${bundles.length} ${bundles.length === 1 ? 'bundle' : 'bundles'}`;
  const description = refused.length === 0 ? count : `${count}, ${refused.length} refused`;
  const payload = { bundles: bundles.map(nameText), refused: refused.map(nameText), missing };
  return note(github, repository, {
    environment,
    description,
    payload,
    state: description,
    commit,
    link,
  });
}

function nameText({ package: name, version }: BundleName): string {
  return `${name}/${version}`;
}

interface Note {
  readonly commit: string;
  readonly environment: string;
  readonly description: string;
  readonly payload: Record<string, unknown>;
  /** The state in the deployment's latest status. */
  readonly state: string;
  readonly link: string | undefined;
}

/** Records something on GitHub as a successful deployment. */
async function note(
  github: GitHub,
  repository: RepositoryName,
  { commit, environment, description, payload, state, link }: Note,
): Promise<void> {
  const deployment = await dataOf(
    github.rest.repos.createDeployment({
      ...repository,
      ref: commit,
      environment,
      auto_merge: false,
      required_contexts: [],
      description,
      payload,
    }) as Promise<{ data: { id?: number | bigint } }>,
  );
  // GitHub returns no id if it merged the default branch first, although the request forbids that.
  if (deployment.id === undefined) return;
  await dataOf(
    github.rest.repos.createDeploymentStatus({
      ...repository,
      deployment_id: Number(deployment.id),
      state: 'success',
      description: state.slice(0, DESCRIPTION),
      ...(link === undefined ? {} : { log_url: link }),
    }),
  );
}
