import { headsOf } from '../../fbc/channel.ts';
import { shortName, versionText } from '../../fbc/edge.ts';
import { type Bundle, type Catalog, locate, type Property } from '../../fbc/model.ts';
import { canonicalJson, sameBundle } from '../../fbc/same-bundle.ts';
import { onceFor } from '../../go/once.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { REQUIRING } from '../../olm/resolve/requirement.ts';
import { CONFIRM_HINT, imageChange, type TagDigests, UNCONFIRMED } from '../../references/same-image.ts';
import { formatVersion } from '../../version/version.ts';
import { isReleased } from '../image/references.ts';
import { grouped, joined } from '../message-text.ts';
import { otherContent } from '../other-content.ts';
import { type Details, quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/bundle-mutated',
  severity: 'error',
  summary:
    'Reports names that stand for another bundle than before, in another catalog or in another package: clusters that have it never install it again',
  harm: { rank: 9, kind: 'change' },
  reads: ['catalogs', 'history', 'registry'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      const bundles = [...(change.after.catalog.packages.get(name)?.bundles.values() ?? [])];
      const changed = bundles.flatMap((bundle) => changedFrom(change, was?.get(bundle.name), bundle));
      const rebuild = isRebuild(change, changed);
      const mutated = [
        ...changed.map((one) => mutatedHere(change, one, rebuild)),
        ...bundles.flatMap((bundle) => (was?.has(bundle.name) ? [] : mutatedElsewhere(change, bundle))),
      ];
      for (const group of grouped(mutated, causeOf)) reportAlike(name, group, report);
      for (const bundle of bundles) if (!was?.has(bundle.name)) reportForeignName(change, bundle, report);
    }
  },
};

/** Reports a new bundle that is named as one of another package and has another image, or as the next one there. */
function reportForeignName({ before, after }: Change, bundle: Bundle, report: Report): void {
  if (!after.olm.has('v0')) return;
  const name = quoted(bundle.name);
  const hint = `name it after its own package, such as ${bundle.package}.v${versionText(bundle)}`;
  const say = (message: string, details: Details = {}): void =>
    report(message, locate(bundle, 'name'), { package: bundle.package, hint, ...details });
  for (const [owner, { bundles }] of after.catalog.packages) {
    const other = owner === bundle.package ? undefined : bundles.get(bundle.name);
    if (!other || imageChange(other.image, bundle.image) !== 'other') continue;
    say(
      `bundle ${name} has the name of a bundle of package ${quoted(owner)}: OLM v0 knows an installed version by its name alone`,
    );
    // One is enough: the bundle needs another name, whoever else has this one.
    return;
  }
  const owners = namesBefore(before.catalog).get(operatorIn(bundle.name));
  // Bundles of the own package that share the name's beginning are usual.
  // Of several other packages, the first is an example.
  const [owner] = owners?.has(bundle.package) ? [] : (owners ?? []);
  if (owner !== undefined)
    say(
      `bundle ${name} is named as the bundles of package ${quoted(owner)}, which may come to have it, too`,
      {
        severity: 'warning',
      },
    );
}

/** Packages by the names of the operators in the names of their bundles. */
const namesBefore = onceFor(({ packages }: Catalog) => {
  const owners = new Map<string, Set<string>>();
  for (const [owner, { bundles }] of packages) {
    for (const name of bundles.keys()) {
      const operator = operatorIn(name);
      owners.set(operator, (owners.get(operator) ?? new Set()).add(owner));
    }
  }
  return owners;
});

/** `etcd` of `etcd.v1.0.0`; a name without a dot as a whole. */
function operatorIn(name: string): string {
  return name.slice(0, `${name}.`.indexOf('.'));
}

/** A name that stands for another bundle. */
interface Mutated {
  readonly bundle: Bundle;
  /** Version in the report. */
  readonly version: string;
  /** What is known of one such bundle, or of many. */
  readonly says: (isOne: boolean) => string;
  readonly text: string;
  readonly path: readonly string[];
  readonly details: Details;
}

/** What bundles must have in common to be reported together. */
function causeOf({ says, path, details }: Mutated): string {
  return JSON.stringify([says(false), path[0], details]);
}

/** Reports bundles of a package that differ in the same way, together: one change of a pipeline changes many. */
function reportAlike(name: string, group: readonly Mutated[], report: Report): void {
  const [first] = group;
  if (!first) return;
  const texts = group.map(({ bundle, text }) => `${quoted(bundle.name)}: ${text}`);
  const message =
    group.length === 1
      ? `bundle ${quoted(first.bundle.name)} ${first.says(true)}: ${first.text}`
      : `${group.length} bundles of package ${quoted(name)} ${first.says(false)}: ${joined(texts)}`;
  // A note is about bundles that were never published, so no cluster has them.
  const installed =
    first.details.severity === 'info' ? {} : { installed: group.map(({ version }) => version) };
  report(message, locate(first.bundle, ...first.path), { package: name, ...installed, ...first.details });
}

/** A bundle that a catalog had before, and that differs now. */
interface Changed {
  readonly old: Bundle;
  readonly bundle: Bundle;
  readonly difference: Difference;
}

/** How a bundle differs from what the catalog had before under its name; empty if it does not. */
function changedFrom({ before }: Change, old: Bundle | undefined, bundle: Bundle): Changed[] {
  if (!old || sameBundle(old, bundle)) return [];
  const difference = differenceOf(old, bundle, before.digests);
  return difference ? [{ old, bundle, difference }] : [];
}

/**
 * A changed bundle in words: an error if it was published, a note if it was not.
 *
 * @param rebuild whether only its image was built again
 */
function mutatedHere({ before }: Change, { old, bundle, difference }: Changed, rebuild: boolean): Mutated {
  const { text, path } = difference;
  const found = { bundle, version: shortName(old), text, path };
  if (isBuild(before, old) || !before.isPublished({ package: bundle.package, bundle: bundle.name })) {
    const says = (isOne: boolean): string =>
      isOne ? 'changes before it is published' : 'change before they are published';
    return { ...found, says, details: { severity: 'info' } };
  }
  const says = (isOne: boolean): string =>
    isOne ? 'is published and now differs' : 'are published and now differ';
  const severity = rebuild || !isReleased(old.image) ? 'warning' : difference.severity;
  const hint = 'restore the bundle, and publish the change as a new version';
  const details = difference.isUnconfirmed ? UNKNOWN : { hint };
  return { ...found, says, details: { ...details, ...(severity ? { severity } : {}) } };
}

/** Whether a bundle waits for its release: its image is that of a build, and the gate of a preset refuses it. */
function isBuild({ bundleRegistries }: World, { image }: Bundle): boolean {
  const isRefused = bundleRegistries.some((allowed) => !allowed.some((prefix) => image.startsWith(prefix)));
  return isRefused && !isReleased(image);
}

const UNKNOWN: Details = { subject: UNCONFIRMED, hint: CONFIRM_HINT };

/**
 * Whether a merge rebuilds one bundle before its release: only its image changes, in all catalogs to the same one, which no
 * other bundle has, of an organization that the package had images of. The policy must say that heads of channels are not
 * released yet.
 */
function isRebuild(change: Change, changed: readonly Changed[]): boolean {
  const { before, after } = change;
  const [only, ...more] = changed.filter(
    ({ old: { image }, difference: { path } }) => path[0] === 'image' && isReleased(image),
  );
  if (!before.rebuildsHeads || !only || more.length > 0) return false;
  const { old, bundle } = only;
  const was = before.catalog.packages.get(bundle.package);
  // A channel with several heads was never built, so each of them waits for its release.
  const isHead = [...(was?.channels.values() ?? [])].some((channel) =>
    headsOf(channel).some(({ name }) => name === old.name),
  );
  const others = [...allBundles(before.catalog), ...allBundles(after.catalog)];
  const sources = new Set([...(was?.bundles.values() ?? [])].map(({ image }) => sourceOf(image)));
  return (
    isHead &&
    sources.has(sourceOf(bundle.image)) &&
    others.every(
      (one) =>
        (one.name === bundle.name && one.package === bundle.package) || isOtherImage(one.image, bundle.image),
    ) &&
    !isRebuiltOtherwise(change, bundle)
  );
}

/** Whether the same merge gives a bundle another image in another catalog. */
function isRebuiltOtherwise({ before, after }: Change, { package: ofPackage, name, image }: Bundle): boolean {
  // What a catalog has comes before what it had.
  const imagesIn = (world: World): ReadonlyMap<string, string> =>
    new Map(
      world
        .publications({ package: ofPackage, bundle: name })
        .toReversed()
        .map((one) => [one.catalog, one.image]),
    );
  const old = imagesIn(before);
  return [...imagesIn(after)].some(([catalog, now]) => {
    const was = old.get(catalog) ?? '';
    return was !== '' && isOtherImage(was, now) && isOtherImage(image, now);
  });
}

function allBundles({ packages }: Catalog): Bundle[] {
  return [...packages.values()].flatMap(({ bundles }) => [...bundles.values()]);
}

/** Who publishes an image: its registry, and the organization there. A product is not rebuilt by somebody else. */
function sourceOf(image: string): string {
  return image.split('/').slice(0, 2).join('/');
}

function isOtherImage(a: string, b: string): boolean {
  return imageChange(a, b) !== 'same';
}

/** Bundles that come back, or that another catalog has too, with different content. */
function mutatedElsewhere(change: Change, bundle: Bundle): Mutated[] {
  const other = otherContent(change, bundle);
  if (!other) return [];
  const { publication, path, isUnconfirmed, isOfOtherLine } = other;
  const { catalog, last } = publication;
  const isHere = catalog === change.before.name;
  const until = last === undefined ? '' : ` until ${last}`;
  const says = (isOne: boolean): string => {
    const [is, was] = isOne ? ['is', 'was'] : ['are', 'were'];
    const verb = last === undefined ? is : was;
    const differs = isHere
      ? `${isOne ? 'comes' : 'come'} back different`
      : `${isOne ? 'differs' : 'differ'} here`;
    const line = isOfOtherLine ? ', as other bundles of these catalogs did before' : '';
    return `${verb} published${isHere ? '' : ` in ${catalog}`}${until} and ${differs}${line}`;
  };
  const what = path[0] === 'image' ? 'image' : 'version';
  const hint = `write the ${what} that was published, or publish the change as a new version`;
  const details = isUnconfirmed ? UNKNOWN : { hint };
  const confirm = isUnconfirmed ? ', and nothing confirms that the tag points to the digest' : '';
  return [
    {
      bundle,
      version: shortName(bundle),
      says,
      text: `${other.text}${confirm}`,
      path,
      details: { ...(isOfOtherLine ? { severity: 'warning' } : {}), ...details },
    },
  ];
}

interface Difference {
  readonly text: string;
  readonly path: readonly string[];
  readonly severity?: 'warning';
  /** Whether a registry or a lock may show that nothing differs. */
  readonly isUnconfirmed?: boolean;
}

/** The first difference between two bundles of one name that matters to clusters; undefined if there is none. */
function differenceOf(old: Bundle, bundle: Bundle, digests: TagDigests): Difference | undefined {
  const replaced = `image ${bundle.image || 'none'} instead of ${old.image || 'none'}`;
  switch (imageChange(old.image, bundle.image, digests)) {
    case 'other':
      return { text: replaced, path: ['image'] };
    case 'unconfirmed':
      return {
        text: `${replaced}, and nothing confirms that the tag points to the digest`,
        path: ['image'],
        isUnconfirmed: true,
      };
    case 'same':
  }
  const [before, after] = [old, bundle].map(({ version }) => version && formatVersion(version));
  // Without a version opm serves no catalog that has it: it was never installed.
  if (before !== after && before !== undefined)
    return { text: `version ${after ?? 'none'} instead of ${before}`, path: ['properties'] };
  const types = [...DECISIVE].filter((type) => differs(old.properties, bundle.properties, type));
  return types.length > 0
    ? { text: `properties ${types.join(', ')}`, path: ['properties'], severity: 'warning' }
    : undefined;
}

/** Properties that decide what clusters do; how the manifests are written may change from catalog to catalog. */
export const DECISIVE: ReadonlySet<string> = new Set([
  'olm.gvk',
  'olm.label',
  'olm.deprecated',
  'olm.maxOpenShiftVersion',
  ...REQUIRING,
]);

/** Whether two bundles have other properties of a type, in whatever order. */
export function differs(a: readonly Property[], b: readonly Property[], wanted: string): boolean {
  const [before, after] = [a, b].map((properties) =>
    properties.filter(({ type }) => type === wanted).map(({ value }) => value),
  );
  // Most of the time nothing has moved at all.
  return JSON.stringify(before) !== JSON.stringify(after) && sorted(before) !== sorted(after);
}

function sorted(values: readonly unknown[] = []): string {
  return JSON.stringify(values.map(canonicalJson).sort());
}
