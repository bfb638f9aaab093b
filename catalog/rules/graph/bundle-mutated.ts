import { headOf } from '../../fbc/channel.ts';
import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Property } from '../../fbc/model.ts';
import { canonical, sameBundle } from '../../fbc/same-bundle.ts';
import type { Change } from '../../olm/foresight/world.ts';
import { REQUIRING } from '../../olm/resolve/requirement.ts';
import { CONFIRM_HINT, imageChange, type TagDigests, UNCONFIRMED } from '../../references/same-image.ts';
import { formatVersion } from '../../version/version.ts';
import { otherContent } from '../other-content.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/bundle-mutated',
  severity: 'error',
  summary:
    'Reports names that stand for another bundle than before or elsewhere: clusters that have it never install it again',
  harm: { rank: 9, kind: 'change' },
  reads: ['catalogs', 'history', 'registry'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name)?.bundles;
      const bundles = [...(change.after.catalog.packages.get(name)?.bundles.values() ?? [])];
      const changed = bundles.flatMap((bundle) => changedFrom(change, was?.get(bundle.name), bundle));
      for (const one of changed)
        reportChanged(change, one, { report, isRebuild: isRebuild(change, changed) });
      for (const bundle of bundles) if (!was?.has(bundle.name)) reportOther(change, bundle, report);
    }
  },
};

/** A bundle that a catalog had before, and that differs now. */
interface Changed {
  readonly old: Bundle;
  readonly bundle: Bundle;
  readonly difference: Difference;
}

function changedFrom({ before }: Change, old: Bundle | undefined, bundle: Bundle): Changed[] {
  if (!old || sameBundle(old, bundle)) return [];
  const difference = differenceOf(old, bundle, before.digests);
  return difference ? [{ old, bundle, difference }] : [];
}

function reportChanged(
  { before }: Change,
  { old, bundle, difference }: Changed,
  { report, isRebuild }: { readonly report: Report; readonly isRebuild: boolean },
): void {
  const { package: name } = bundle;
  const place = locate(bundle, ...difference.path);
  if (!before.isPublished({ package: name, bundle: bundle.name })) {
    const message = `bundle ${quoted(bundle.name)} changes before it is published: ${difference.text}`;
    report(message, place, { package: name, severity: 'info' });
    return;
  }
  const message = `bundle ${quoted(bundle.name)} is published and now differs: ${difference.text}`;
  const severity = isRebuild ? 'warning' : difference.severity;
  report(message, place, {
    package: name,
    installed: [shortName(old)],
    ...(severity ? { severity } : {}),
    ...(difference.isUnconfirmed
      ? { subject: UNCONFIRMED, hint: CONFIRM_HINT }
      : { hint: 'restore the bundle, and publish the change as a new version' }),
  });
}

/**
 * Whether a merge rebuilds one bundle that is not released yet, where the policy says that heads of channels are not: to an
 * image that no other version has.
 */
function isRebuild({ before, after }: Change, changed: readonly Changed[]): boolean {
  const [only, ...more] = changed.filter(({ difference: { path } }) => path[0] === 'image');
  if (!before.rebuildsHeads || !only || more.length > 0) return false;
  const { old, bundle } = only;
  const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(bundle.package));
  const isHead = [...(was?.channels.values() ?? [])].some((channel) => headOf(channel)?.name === old.name);
  const others = [...(was?.bundles.values() ?? []), ...(is?.bundles.values() ?? [])];
  return (
    isHead && others.every(({ name, image }) => name === bundle.name || isOtherImage(image, bundle.image))
  );
}

function isOtherImage(a: string, b: string): boolean {
  return imageChange(a, b) !== 'same';
}

/** A bundle that comes back, or comes from another catalog, as something else. */
function reportOther(change: Change, bundle: Bundle, report: Report): void {
  const other = otherContent(change, bundle);
  if (!other) return;
  const { publication, text, path, isUnconfirmed, isOfOtherLine } = other;
  const { catalog, last } = publication;
  const where = catalog === change.before.name ? '' : ` in ${catalog}`;
  const when = last === undefined ? `is published${where}` : `was published${where} until ${last}`;
  const verb = catalog === change.before.name ? 'and comes back different' : 'and differs here';
  const confirm = isUnconfirmed ? ', and nothing confirms that the tag points to the digest' : '';
  const line = isOfOtherLine ? ', as other bundles of these catalogs did before' : '';
  report(`bundle ${quoted(bundle.name)} ${when} ${verb}${line}: ${text}${confirm}`, locate(bundle, ...path), {
    package: bundle.package,
    installed: [shortName(bundle)],
    ...(isOfOtherLine ? { severity: 'warning' as const } : {}),
    ...(isUnconfirmed
      ? { subject: UNCONFIRMED, hint: CONFIRM_HINT }
      : {
          hint: `write the ${path[0] === 'image' ? 'image' : 'version'} that was published, or publish the change as a new version`,
        }),
  });
}

interface Difference {
  readonly text: string;
  readonly path: readonly string[];
  readonly severity?: 'warning';
  /** Whether a registry or a lock may show that nothing differs. */
  readonly isUnconfirmed?: boolean;
}

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

export function differs(a: readonly Property[], b: readonly Property[], wanted: string): boolean {
  const [before, after] = [a, b].map((properties) =>
    properties.filter(({ type }) => type === wanted).map(({ value }) => value),
  );
  // Most of the time nothing has moved at all.
  return JSON.stringify(before) !== JSON.stringify(after) && sorted(before) !== sorted(after);
}

function sorted(values: readonly unknown[] = []): string {
  return JSON.stringify(values.map(canonical).sort());
}
