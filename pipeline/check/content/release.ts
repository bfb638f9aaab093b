/**
 * What a merge will make of the bundles that a pull request brings: their images, and the catalogs that take them.
 * The catalogs are checked as they will be, so that nobody finds out after the merge. Nothing is fetched for it.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { formatReference, tryParseReference } from '../../../catalog/reference.ts';
import { type PolicyOn, refusalsOf } from '../../catalogs/bundle/check-bundle.ts';
import {
  type AddedBundle,
  addedBundles,
  type BuiltBundle,
  builtBundle,
  takenTag,
} from '../../catalogs/release/bundle-image.ts';
import { releasedTexts } from '../../catalogs/release/release.ts';
import { RELEASE_FILE, refusalFinding } from '../../catalogs/release/release-config.ts';
import {
  overlaidRepository,
  type ReleaseRepository,
  treeRepository,
} from '../../catalogs/release/release-repository.ts';
import { loadBundle } from '../../catalogs/render/load.ts';
import { PipelineError } from '../../error.ts';
import { treeWith } from '../../git/replace.ts';
import type { Repository } from '../../git/repository.ts';
import type { Policy } from '../../policy/policy.ts';
import { repositoryMatcher } from '../../policy/registries.ts';
import type { Registry } from '../../ports.ts';
import type { CheckReport, ReleaseReport } from '../report.ts';
import type { TouchedCatalog } from '../world/touched-catalog.ts';

export interface Foreseen {
  /** Id of the tree that the branch will have once everything is released. */
  readonly tree: string;
  /** The bundles whose images the merge pushes. */
  readonly bundles: readonly ForeseenBundle[];
  /** Why something will not be released. */
  readonly findings: readonly Finding[];
  readonly unchecked: CheckReport['unchecked'];
  /** The bundles that the merge adds to catalogs. */
  readonly released: readonly ReleaseReport[];
}

/** A bundle whose image a merge pushes. */
interface ForeseenBundle {
  readonly package: string;
  /** Of its ClusterServiceVersion. */
  readonly name: string;
  /** By digest, and by tag: neither is there before the merge. */
  readonly reference: string;
  readonly tag: string;
  readonly folder: string;
  readonly made: BuiltBundle;
}

/**
 * The bundles that a merge will release, with the images that they will have.
 *
 * @param trees ids of the base's tree or commit, and of the merge's tree
 * @param under the policy, and the day of the check
 */
export async function foreseeRelease(
  repository: Repository,
  trees: { readonly base: string; readonly merged: string },
  under: PolicyOn,
): Promise<Foreseen> {
  const { objects, scratch } = repository;
  const { policy } = under;
  const drafts: Drafts = { bundles: [], findings: [], unchecked: [], released: [] };
  if (!policy.release) return { ...drafts, tree: trees.merged };
  const arrived = await addedBundles(objects, { before: trees.base, after: trees.merged }, policy);
  const texts = new Map<string, string>();
  const place = overlaidRepository(treeRepository(objects, trees.merged), texts);
  for (const bundle of arrived) {
    try {
      await foreseeOne(place, under, { bundle, texts, drafts });
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      noteUnreleased(error, bundle, drafts);
    }
  }
  const tree = await treeWith(repository, { directory: scratch, tree: trees.merged, texts });
  return { ...drafts, tree };
}

interface Drafts {
  readonly bundles: ForeseenBundle[];
  readonly findings: Finding[];
  readonly unchecked: { readonly what: string; readonly why: string }[];
  readonly released: ReleaseReport[];
}

interface BundleToRelease {
  readonly bundle: AddedBundle;
  /** What earlier ones have made; this one's are added. */
  readonly texts: Map<string, string>;
  readonly drafts: Drafts;
}

/**
 * Adds what becomes of a bundle to `drafts`, and the new texts of catalogs to `texts`, where the next bundle finds
 * them.
 */
async function foreseeOne(
  place: ReleaseRepository,
  under: PolicyOn,
  { bundle, texts, drafts }: BundleToRelease,
): Promise<void> {
  const { release } = under.policy;
  const source = await place.folder(bundle.folder);
  if (!source || !release) return;
  // Its findings stand in the report already; what is refused is not there for any catalog.
  if ((await refusalsOf(source, { ...bundle, path: bundle.folder }, under)).length > 0) return;
  const made = await builtBundle(release.bundles, bundle, source);
  const { blobs } = await loadBundle(source, {}, { image: made.reference });
  // Rules about bundles report why a folder is not a bundle.
  const [{ name } = { name: '' }] = blobs.bundles;
  if (name === '') return;
  drafts.bundles.push(foreseenBundle(bundle, name, made));
  const isWanted = (await place.text(`${bundle.folder}/${RELEASE_FILE}`)) !== undefined;
  if (!isWanted || release.mode === 'off') return;
  const rendering = { directory: '/', registry: refuse };
  const { texts: own, findings } = await releasedTexts(place, {
    ...bundle,
    image: made.reference,
    rendering,
  });
  drafts.findings.push(...findings);
  const changed: string[] = [];
  for (const [path, text] of own) {
    if ((await place.text(path)) === text) continue;
    changed.push(path);
    texts.set(path, text);
  }
  const { package: packageName, version } = bundle;
  drafts.released.push({
    package: packageName,
    version,
    image: made.reference,
    by: release.mode,
    files: changed,
  });
}

/** A bundle as it will be once it is released. */
function foreseenBundle(
  { package: name, folder }: AddedBundle,
  csv: string,
  made: BuiltBundle,
): ForeseenBundle {
  return {
    package: name,
    name: csv,
    reference: made.reference,
    tag: formatReference(made.tag),
    folder,
    made,
  };
}

/** Before a merge nothing is fetched that a pull request names. */
function refuse(host: string): never {
  throw new PipelineError('not-allowed', `it has a bundle from ${host} that is not in any catalog yet`);
}

/**
 * Notes why a bundle is not released: as not checked where only the check may not ask a registry, else as a
 * finding.
 */
function noteUnreleased(
  error: PipelineError,
  { package: name, version, folder }: AddedBundle,
  drafts: Drafts,
): void {
  const { code, message } = error;
  // A check contacts no registry for this: the bundle is not wrong.
  if (code === 'not-allowed') {
    drafts.unchecked.push({ what: `the catalogs for ${name} ${version}`, why: message });
    return;
  }
  drafts.findings.push(refusalFinding(error, { package: name, folder }));
}

/** Findings about bundles whose tag already names another image: the merge could not release them. */
export async function takenTags(
  bundles: readonly ForeseenBundle[],
  { registries }: Policy,
  registry: Registry | undefined,
): Promise<Finding[]> {
  const allows = repositoryMatcher(registries.allow);
  const found = await Promise.all(
    bundles.map(async ({ made, folder, package: name }): Promise<Finding[]> => {
      if (!registry || !allows(made.tag)) return [];
      const taken = takenTag(made, await registry.resolve(made.tag).catch(unlessUnanswered));
      return taken ? [refusalFinding(taken, { package: name, folder })] : [];
    }),
  );
  return found.flat();
}

/**
 * Treats a registry that does not answer as one without the tag: the merge, which may see more than the
 * check, asks again.
 */
function unlessUnanswered(error: unknown): undefined {
  if (!(error instanceof PipelineError)) throw error;
}

/** Findings about catalogs that name another image than the one that the bundle of this pull request will have. */
export function otherImages(
  touched: readonly TouchedCatalog[],
  bundles: readonly ForeseenBundle[],
): Finding[] {
  return touched.flatMap(({ names, after }) =>
    (after?.blobs.bundles ?? []).flatMap((bundle): Finding[] => {
      const own = bundles.find((one) => one.package === bundle.package && one.name === bundle.name);
      if (!own || bundle.image === own.reference || !sameRepository(bundle.image, own.tag)) return [];
      const said = `bundle ${JSON.stringify(bundle.name)} is ${bundle.image} here`;
      const message = `${said}, but its directory in this pull request becomes a different image`;
      const location = bundle.document.locate(['image']);
      const where = { package: bundle.package, catalogs: names };
      return [{ rule: 'release/image', severity: 'error', message, location, hint: own.reference, ...where }];
    }),
  );
}

/** Whether two references name one repository of a registry; an image from elsewhere is not the bundle's. */
function sameRepository(a: string, b: string): boolean {
  const [one, other] = [tryParseReference(a), tryParseReference(b)];
  if (!one || !other) return false;
  return one.registry === other.registry && one.repository === other.repository;
}
