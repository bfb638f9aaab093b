/**
 * Pins that follow their tags: what a catalog, and the templates that it is made of, look like when every
 * tag of its lock stands for what it stands for now. Comments, quotes and order stay.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { formatLock, InvalidLock, type ReferenceLock, readLock } from '../../../catalog/references/lock.ts';
import type { CatalogSource, SourceFile } from '../../../catalog/source.ts';
import { pinFile, pinsByFile, resolveReferences } from '../../catalogs/references/resolve.ts';
import { wholeCatalog } from '../../change/commit-catalogs.ts';
import { catalogUnits, packageFolders } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { entryAt, filesBelow } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { Registry } from '../../ports.ts';

interface RepinRequest {
  /** Id of the commit that holds the catalog. */
  readonly commit: string;
  readonly policy: Policy;
  readonly catalog: string;
}

/** A tag that stands for something else than its lock says. */
export interface MovedTag {
  /** In full, as in the lock. */
  readonly tag: string;
  /** Undefined for a tag that was not locked yet. */
  readonly before: string | undefined;
  readonly after: string;
}

export interface Repinned {
  readonly moved: readonly MovedTag[];
  /** Texts by path, of the files that differ: the lock, the catalog's files, templates. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Places that cannot be pinned in place. */
  readonly left: readonly Finding[];
}

/**
 * Looks up the tags of a catalog that has a lock; undefined for one that has none.
 *
 * @throws PipelineError `usage` for a lock, a catalog or a policy that cannot be followed, `unreachable`
 *   (retryable) when a registry does not answer: half of the pins are never given
 */
export async function repinCatalog(
  { objects, registry }: { readonly objects: ObjectReader; readonly registry: Registry },
  { commit, policy, catalog }: RepinRequest,
): Promise<Repinned | undefined> {
  const path = policy.registries.lock.replaceAll('{catalog}', catalog);
  const lock = await lockAt(objects, commit, path);
  if (!lock) return undefined;
  if (policy.registries.allow.length === 0) {
    throw new PipelineError('usage', 'the policy does not allow contacting any registry', {
      hint: 'list registries in registries.allow',
    });
  }
  const sources = [
    await wholeCatalog(objects, commit, { layout: policy.layout, name: catalog }),
    await templatesOf(objects, { commit, policy, catalog, lock }),
  ];
  const allows = repositoryMatcher(policy.registries.allow);
  const asked = { registry, lock, allows, update: true, severityOf: severitiesOf(policy) };
  const { resolved, lock: next, findings, unanswered } = await resolveReferences(sources, asked);
  const [silent] = unanswered;
  if (silent) {
    throw new PipelineError('unreachable', `cannot reach ${silent.registry}: ${silent.why}`, {
      retryable: true,
    });
  }
  const error = findings.find(({ severity }) => severity === 'error');
  if (error) {
    const { file, line } = error.location;
    throw new PipelineError('usage', `${file}:${line}: ${error.message}`, {
      hint: 'run portolan resolve DIR for details',
    });
  }
  const pinned = await pinnedFiles(sources, pinsByFile(resolved, next));
  const moved = movedTags(lock, next);
  const files = new Map(
    moved.length === 0 ? pinned.files : [...pinned.files, [path, Buffer.from(formatLock(next))]],
  );
  return { moved, files, left: pinned.left };
}

/** Largest lock that is read, in bytes. */
const LOCK_BYTES = 16 * 1024 * 1024;

/** The lock file at a path of a commit; undefined if there is none. @throws PipelineError `usage` if it is not valid */
async function lockAt(
  objects: ObjectReader,
  commit: string,
  path: string,
): Promise<ReferenceLock | undefined> {
  const entry = await entryAt(objects, commit, path);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  const { bytes } = await objects.read(entry.id, LOCK_BYTES);
  try {
    return readLock(bytes.toString('utf8'));
  } catch (error) {
    if (!(error instanceof InvalidLock)) throw error;
    throw new PipelineError('usage', `${path} is not a valid lock file: ${error.message}`, { cause: error });
  }
}

interface Templates extends RepinRequest {
  readonly lock: ReferenceLock;
}

/** Templates of the catalog's packages that name an image of the lock. Texts are searched: most templates name none. */
async function templatesOf(
  objects: ObjectReader,
  { commit, policy: { layout }, catalog, lock }: Templates,
): Promise<CatalogSource> {
  const units = [...(await catalogUnits(objects, commit, layout)).values()];
  const own = new Set(units.flatMap((unit) => (unit.catalog === catalog ? (unit.package ?? []) : [])));
  const folders = (await packageFolders(objects, commit, layout)).filter((one) => own.has(one.package));
  const listed = await Promise.all(folders.map((folder) => filesBelow(objects, folder)));
  const named = [...lock.digests].flatMap(([tag, digest]) => [shortOf(tag), digest]);
  const files: SourceFile[] = [];
  for (const file of listed.flat()) {
    if (layout.match(file.path)?.kind !== 'template' || !/\.(?:ya?ml|json)$/.test(file.path)) continue;
    const source = sourceFile(objects, file);
    if (source.unreadable !== undefined) continue;
    const text = Buffer.from(await source.read()).toString('utf8');
    if (named.some((one) => text.includes(one))) files.push(source);
  }
  return { files: async () => files };
}

/** A tag as it may be written without its registry. */
function shortOf(tag: string): string {
  return tag.slice(tag.lastIndexOf('/') + 1);
}

/** The tags that the new lock has with other digests than the old one, or that only it has. */
function movedTags(before: ReferenceLock, after: ReferenceLock): MovedTag[] {
  return [...after.digests]
    .map(([tag, digest]) => ({ tag, before: before.digests.get(tag), after: digest }))
    .filter((one) => one.before !== one.after)
    .sort((a, b) => compareText(a.tag, b.tag));
}

/** The files with new pins, and findings about references that must be changed by hand. */
async function pinnedFiles(
  sources: readonly CatalogSource[],
  pins: ReturnType<typeof pinsByFile>,
): Promise<{ files: [string, Uint8Array][]; left: Finding[] }> {
  const files: [string, Uint8Array][] = [];
  const left: Finding[] = [];
  const all = (await Promise.all(sources.map((source) => source.files()))).flat();
  for (const file of all) {
    const own = pins.get(file.path);
    if (!own) continue;
    const before = Buffer.from(await file.read()).toString('utf8');
    const pinned = pinFile(file.path, before, own);
    for (const finding of pinned.findings) left.push(finding);
    if (pinned.text !== before) files.push([file.path, Buffer.from(pinned.text)]);
  }
  return { files, left };
}
