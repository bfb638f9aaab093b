/**
 * What bundles do to installed versions where no catalog of the repository has them: the directory of a bundle is in the
 * source of its operator, and changes in place, or has those of earlier versions beside it.
 */
import { EditError } from '../../../catalog/edit/package.ts';
import type { PlacedBundle } from '../../../catalog/edit/package-graph.ts';
import { packageOf } from '../../../catalog/edit/update.ts';
import { shortName } from '../../../catalog/fbc/edge.ts';
import { repositoryOf } from '../../../catalog/fbc/fragment.ts';
import { type Bundle, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { type Finding, milderSeverity } from '../../../catalog/finding.ts';
import { quoted } from '../../../catalog/names.ts';
import { changeOf } from '../../../catalog/olm/foresight/world.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { imageChange } from '../../../catalog/references/same-image.ts';
import { rule as bundleMutated } from '../../../catalog/rules/graph/bundle-mutated.ts';
import { listed } from '../../../catalog/rules/message-text.ts';
import { satisfies } from '../../../catalog/version/satisfies.ts';
import { compareVersions, formatVersion, tryParseRange } from '../../../catalog/version/version.ts';
import type { BundleFolder } from '../../catalogs/bundle/check-bundle.ts';
import { isWithin } from '../../change/catalogs.ts';
import type { Policy } from '../../policy/policy.ts';
import { inChannel, severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import type { BeforeAndAfter } from '../world/touched-catalog.ts';
import { isBelow, nextLowerBeside } from './bundle-folders.ts';
import { type CatalogResult, foreseenIn } from './catalog-rules.ts';

/** What is known of a bundle's place. */
interface KnownPlace {
  /** Finds a bundle as it was released; undefined if nothing says that it was. */
  readonly releasedAs: (bundle: PlacedBundle) => Promise<PlacedBundle | undefined>;
  /** Whether catalogs say what the bundle replaces, whatever it says itself. */
  readonly isPlacedByCatalogs: boolean;
}

/**
 * Compares a bundle with what was there before: the version that it takes the place of, or the nearest one beside it. One
 * that was released and changes under its version is compared with what clusters have of it.
 */
export async function checkUpgrade(
  scene: CheckScene,
  folder: BundleFolder,
  { before, after }: BeforeAndAfter<PlacedBundle | undefined>,
  known: KnownPlace,
): Promise<CatalogResult[]> {
  if (!after) return [];
  return before && isSameRelease(before, after)
    ? checkSameRelease(scene, folder, { before, after }, known)
    : checkNextRelease(scene, folder, { before, after }, known);
}

/** Compares a bundle that changes and keeps its version. */
async function checkSameRelease(
  scene: CheckScene,
  folder: BundleFolder,
  { before, after }: BeforeAndAfter<PlacedBundle>,
  { releasedAs, isPlacedByCatalogs }: KnownPlace,
): Promise<CatalogResult[]> {
  const released = await releasedAs(before);
  const own = await changeIn(scene, folder, before, after, released ? 'released' : 'before');
  if (!own) return [];
  const causes = async (one: PlacedBundle, other: PlacedBundle): Promise<ReadonlySet<string>> =>
    new Set(((await changeIn(scene, folder, one, other))?.findings ?? []).map(causeOf));
  // What is said of the bundle as it was is known.
  const known = await causes(before, before);
  const news = own.findings.filter((one) => !known.has(causeOf(one)));
  if (!released) {
    // Nobody has it yet, and what it newly does, no later comparison shows: its version is there already.
    const below = await nextLowerBeside(scene, folder, after);
    if (!below) return [{ ...own, findings: news.filter(isOfClusters).map(asWarning) }];
    const rights = news.filter(({ rule }) => OF_RIGHTS.has(rule));
    const worse = await newlyWorse(scene, folder, {
      before: placedAbove(below, before, { isPlacedByCatalogs }),
      after: placedAbove(below, after, { isPlacedByCatalogs }),
      below,
    });
    return [{ ...own, findings: [...rights, ...worse] }];
  }
  // What is only on the branch may go again.
  const all = released === before ? new Set(own.findings.map(causeOf)) : await causes(released, after);
  // A branch goes on from what a tag has; where the bundle stays, it is what users install and pin.
  const images = released === before ? otherImages(scene.policy, released.blob, after.blob) : [];
  return [{ ...own, findings: [...news.filter((one) => all.has(causeOf(one))), ...images] }];
}

/** Compares a bundle of a new version with the version below it: the one in its place, or the nearest beside it. */
async function checkNextRelease(
  scene: CheckScene,
  folder: BundleFolder,
  { before, after }: { readonly before: PlacedBundle | undefined; readonly after: PlacedBundle },
  { isPlacedByCatalogs }: KnownPlace,
): Promise<CatalogResult[]> {
  // What it takes the place of may be another package's, or higher: then it upgrades nothing.
  const inPlace = isBelow(before, after) ? before : undefined;
  const below = before ? inPlace : await nextLowerBeside(scene, folder, after);
  if (!below) return [];
  const above = placedAbove(below, after, { isPlacedByCatalogs });
  const found = await upgradeIn(scene, folder, below, above);
  if (!found) return [];
  // A missing edge hides nothing: what the upgrade does comes with its repair.
  const repaired = { ...above, replaces: below.blob.name };
  const all = above.replaces === '' ? await upgradeIn(scene, folder, below, repaired) : undefined;
  const reported = new Set(found.findings.map(causeOf));
  const hidden = all?.findings.filter((one) => isOfClusters(one) && !reported.has(causeOf(one))) ?? [];
  return [{ ...found, findings: [...found.findings, ...hidden] }];
}

/** A finding if a released bundle now names images which it did not name. A tag may become a digest. */
function otherImages(policy: Policy, released: Bundle, blob: Bundle): Finding[] {
  const had = released.relatedImages.map(({ image }) => image);
  const isPin = (was: string, is: string): boolean =>
    imageChange(was, is) === 'unconfirmed' && repositoryOf(was) === repositoryOf(is);
  const added = blob.relatedImages
    .map(({ image }) => image)
    .filter(
      (is) => is !== blob.image && !had.some((was) => imageChange(was, is) === 'same' || isPin(was, is)),
    );
  const severity = severitiesOf(policy)(bundleMutated);
  if (added.length === 0 || severity === 'off') return [];
  return [
    {
      rule: bundleMutated.id,
      severity: milderSeverity(severity, 'warning'),
      message: `bundle ${quoted(blob.name)} is released and now names other images: ${listed([...new Set(added)])}`,
      location: blob.document.locate([]),
      package: blob.package,
      installed: [shortName(blob)],
      hint: 'restore the images, and publish the change as a new version',
    },
  ];
}

/** Whether a finding is about what clusters run, and not about what a catalog shows of it. */
function isOfClusters({ rule }: Finding): boolean {
  return /^(?:graph|image)\//.test(rule);
}

/** A finding of what may still change before anybody has it. */
function asWarning(finding: Finding): Finding {
  return finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding;
}

/** Rules about what an operator may do on a cluster. */
const OF_RIGHTS: ReadonlySet<string> = new Set(['graph/permissions-grow', 'graph/privileges-grow']);

/**
 * Findings about the upgrade from the version below to a bundle that nobody has yet, as far as they are new
 * with its change. Those about rights are left out: the caller compares the rights of the bundle itself.
 */
async function newlyWorse(
  scene: CheckScene,
  folder: BundleFolder,
  { before, after, below }: BeforeAndAfter<PlacedBundle> & { readonly below: PlacedBundle },
): Promise<Finding[]> {
  const findingsOf = async (one: PlacedBundle): Promise<readonly Finding[]> =>
    (await upgradeIn(scene, folder, below, one))?.findings ?? [];
  const known = new Set((await findingsOf(before)).map(causeOf));
  return (await findingsOf(after)).filter((one) => !known.has(causeOf(one)) && !OF_RIGHTS.has(one.rule));
}

/** Whether two bundles have one name and one version. */
export function isSameRelease(one: PlacedBundle, other: PlacedBundle): boolean {
  const { blob, version } = one;
  return (
    blob.package === other.blob.package &&
    blob.name === other.blob.name &&
    compareVersions(version, other.version) === 0
  );
}

/** What a finding is about. Messages name versions, which differ from one comparison to the next. */
function causeOf({ rule, subject, location }: Finding): string {
  return JSON.stringify([rule, subject, location.file]);
}

/**
 * What a bundle that changes under its version does to those who have it. It is compared as if it were the next version;
 * messages have its real one.
 *
 * @param called what messages say of the version that is compared with, such as `released`
 */
async function changeIn(
  scene: CheckScene,
  folder: BundleFolder,
  released: PlacedBundle,
  changed: PlacedBundle,
  called = 'released',
): Promise<CatalogResult | undefined> {
  const { blob, version } = released;
  const { patch } = version;
  // The build makes the text of this version unlike all others, so that messages can be given the real one.
  const next = {
    ...version,
    patch: typeof patch === 'bigint' ? patch + 1n : patch + 1,
    prerelease: [],
    build: ['changed'],
  };
  const name = `${blob.name}-released`;
  const below = { ...released, blob: { ...blob, name } };
  const above = {
    ...changed,
    ...NO_EDGES,
    replaces: name,
    version: next,
    blob: { ...changed.blob, version: next },
  };
  const found = await upgradeIn(scene, folder, below, above);
  const named = (text: string): string =>
    text.replaceAll(name, `${blob.name} (${called})`).replaceAll(formatVersion(next), formatVersion(version));
  return (
    found && { ...found, findings: found.findings.map((one) => ({ ...one, message: named(one.message) })) }
  );
}

/** What the next bundle does to those who have the one below. */
async function upgradeIn(
  scene: CheckScene,
  folder: BundleFolder,
  below: PlacedBundle,
  above: PlacedBundle,
): Promise<CatalogResult | undefined> {
  const published = { ...below, ...NO_EDGES };
  const was = catalogWith([published]);
  const is = catalogWith([published, above]);
  if (!was || !is) return undefined;
  const { policy } = scene;
  const options = { name: folder.path, isWhole: false, olm: policy.graph.olm };
  const change = await changeOf({ ...options, catalog: was }, { ...options, catalog: is });
  const severityOf = severitiesOf(policy);
  const result = foreseenIn(change, { severityOf, before: true, after: true });
  const place = above.blob.document.locate([]);
  const placed = (finding: Finding): Finding => ({
    ...inChannel(policy, finding),
    ...(isWithin(finding.location.file, folder.path) ? {} : { location: place }),
  });
  return { ...result, findings: result.findings.map(placed), known: result.known.map(placed), diffs: [] };
}

/**
 * A bundle that is an upgrade of the one below it, if it names that one, or no version at all; in any case where catalogs
 * say what it replaces.
 */
function placedAbove(
  below: PlacedBundle,
  bundle: PlacedBundle,
  { isPlacedByCatalogs }: Pick<KnownPlace, 'isPlacedByCatalogs'>,
): PlacedBundle {
  const { replaces, skips, skipRange } = bundle;
  const { name } = below.blob;
  if (isPlacedByCatalogs) return { ...bundle, ...NO_EDGES, replaces: name };
  const range = tryParseRange(skipRange);
  const reaches =
    replaces === name || skips.includes(name) || (range !== undefined && satisfies(below.version, range));
  const isSilent = replaces === '' && skips.length === 0 && skipRange === '';
  return { ...bundle, ...NO_EDGES, replaces: reaches || isSilent ? name : '' };
}

/** Versions that are not in the repository are unknown: edges to them say nothing. */
const NO_EDGES = { replaces: '', skips: [], skipRange: '' };

/** Undefined for what opm makes no catalog of, such as two bundles with one version. */
function catalogWith(bundles: readonly PlacedBundle[]): Catalog | undefined {
  try {
    const { blobs } = packageOf(bundles, 'replaces');
    return catalogOf({ ...blobs, bundles: blobs.bundles.map(plainBundle) });
  } catch (error) {
    if (error instanceof EditError) return undefined;
    throw error;
  }
}
