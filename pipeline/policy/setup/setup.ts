/** What a repository needs to be gated: a policy that fits its layout, and the workflows. */

import { isObject } from '../../../catalog/go/shape.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { isTree, type ListedFile, listFiles } from '../../git/tree.ts';
import { readSettings } from '../../settings.ts';
import { POLICY_PATH } from '../read-policy.ts';
import { type CatalogFile, type FoundLayout, layoutOf } from './layout.ts';
import { firstPolicy } from './policy.ts';
import { WORKFLOWS } from './workflows.ts';

export interface SetupRequest {
  /** The revision that is looked at. */
  readonly commit: string;
  readonly admins: readonly string[];
  /** `OWNER/REPOSITORY@COMMIT` in place of the action that the workflows name. */
  readonly action?: string | undefined;
}

export interface Setup {
  readonly found: FoundLayout;
  /** Files to write, by path; those that the repository has are not among them. */
  readonly files: ReadonlyMap<string, string>;
  /** Paths that the repository has already. */
  readonly kept: readonly string[];
}

/** Files that are looked into at most, and their bytes. */
const MOST_FILES = 500;
const MOST_BYTES = 32 * 1024 * 1024;

const ACTION = /^[A-Za-z0-9_.-]+\/[A-Za-z0-9_./-]+@[0-9a-f]{40}$/;

/** @throws PipelineError `usage` for an action that is not pinned by commit, `not-found` */
export async function setup(repository: Repository, request: SetupRequest): Promise<Setup> {
  const { action, admins } = request;
  if (action !== undefined && !ACTION.test(action))
    throw new PipelineError(
      'usage',
      `invalid action ${JSON.stringify(action)}: expected OWNER/REPOSITORY@COMMIT`,
    );
  const [commit = ''] = await repository.resolve([request.commit]);
  const { objects } = repository;
  const files = await listFiles(objects, await objects.treeOf(commit));
  const found = layoutOf(await catalogFiles(objects, files));
  const wanted = new Map([[POLICY_PATH, firstPolicy(found, admins)]]);
  for (const [name, text] of Object.entries(WORKFLOWS))
    wanted.set(`.github/workflows/${name}`, action === undefined ? text : named(text, action));
  const there = new Set(files.map(({ path }) => path));
  return {
    found,
    files: new Map([...wanted].filter(([path]) => !there.has(path))),
    kept: [...wanted.keys()].filter((path) => there.has(path)),
  };
}

function named(workflow: string, action: string): string {
  return workflow.replaceAll(/uses: portolan\/portolan@[0-9a-f]{40} # \S+/g, () => `uses: ${action}`);
}

/** Files that begin with blobs of a catalog, with the package of the first. */
async function catalogFiles(objects: ObjectReader, files: readonly ListedFile[]): Promise<CatalogFile[]> {
  const likely = files
    .filter(
      ({ path, mode }) =>
        !isTree(mode) &&
        /\.(?:ya?ml|json)$/.test(path) &&
        !/^\.|\/(?:manifests|metadata|catalog-templates)\//.test(path),
    )
    .slice(0, MOST_FILES * 10);
  const found: CatalogFile[] = [];
  for (const { path, id } of likely) {
    if (found.length >= MOST_FILES) break;
    const size = (await objects.info(id))?.size ?? MOST_BYTES;
    if (size >= MOST_BYTES) continue;
    const name = firstPackage((await objects.read(id)).bytes.toString('utf8'));
    if (name !== undefined) found.push({ path, package: name });
  }
  return found;
}

/** The package of a file's first `olm.package`, without reading more of it than that document. */
function firstPackage(text: string): string | undefined {
  const at = text.search(/"?schema"?: *"?olm\.package"?/);
  if (at < 0 || /"?schema"?: *"?olm\.(?:template|semver)/.test(text.slice(0, at))) return undefined;
  if (/^\s*\{/.test(text)) return /"name": *"([^"]+)"/.exec(text.slice(text.lastIndexOf('{', at)))?.[1];
  const document = text.split(/^---[ \t]*$/m).find((part) => /schema: *"?olm\.package"?/.test(part)) ?? '';
  const { value } = readSettings('file', Buffer.from(document)).settings ?? {};
  return isObject(value) && typeof value['name'] === 'string' ? value['name'] : undefined;
}
