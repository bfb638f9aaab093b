import type { Location } from '../../finding.ts';
import { publishedInstallations, withoutChannels } from '../../olm/foresight/installation.ts';
import { installationChanges } from '../../olm/foresight/installation-change.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { placeOfPackage } from '../finding-location.ts';
import { endText, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/package-removed',
  severity: 'error',
  summary: 'Reports removed packages that clusters may have installed',
  harm: { rank: 1, kind: 'loss' },
  reads: ['catalogs', 'history'],
  compare(change, report) {
    const ended: string[] = [];
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name);
      const location = placeOfPackage(change.before, name);
      if (!was || !location || was.channels.size === 0) continue;
      if ((change.after.catalog.packages.get(name)?.channels.size ?? 0) > 0) continue;
      if (!change.before.isPublished({ package: name })) {
        const message = `package ${quoted(name)} is removed before it is published`;
        report(message, location, { package: name, severity: 'info' });
        continue;
      }
      const renamed = renamedTo(change, name);
      if (renamed) {
        reportRenamed({ ...change, after: renamed }, name, { report, location });
        continue;
      }
      if (isOldestThatEnds(change)) {
        ended.push(name);
        continue;
      }
      const versions = versionsOf(withoutChannels(publishedInstallations(change.before, name)));
      const message = `package ${quoted(name)} is removed: OLM v0 cannot resolve anything in namespaces that subscribe to it, and OLM v1 reports an error for every extension of it`;
      const hint =
        was.deprecation === undefined
          ? 'keep the package for one more release and deprecate it: reference: {schema: olm.package}'
          : 'it was deprecated before: waive this finding once users have had time to move';
      report(message, location, { package: name, installed: versions, hint });
    }
    reportEnd(change, ended, report);
  },
};

/**
 * Whether a whole catalog goes, those of all earlier versions of the platform are gone, and one of a later version is kept:
 * that is how support of a platform's version ends. A publish leaves the last image where it is.
 */
function isOldestThatEnds({ before, after }: Change): boolean {
  const kept = new Set(before.following.filter(hasPackages).map(({ name }) => name));
  return (
    !hasPackages(after) &&
    !after.preceding.some(hasPackages) &&
    after.following.some((world) => kept.has(world.name) && hasPackages(world))
  );
}

function hasPackages({ catalog }: World): boolean {
  return catalog.packages.size > 0;
}

/** Reports the end of the oldest catalog once, with the versions that no later one has. @param names its packages */
function reportEnd({ before, after }: Change, names: readonly string[], report: Report): void {
  const [first, ...others] = names;
  const location = first === undefined ? undefined : placeOfPackage(before, first);
  if (first === undefined || !location) return;
  const lost = names.flatMap((name) => {
    const own = [...(before.catalog.packages.get(name)?.bundles.values() ?? [])];
    const isLater = (bundle: string): boolean =>
      after.following.some(({ catalog }) => catalog.packages.get(name)?.bundles.has(bundle));
    return versionsOf(own.filter((one) => !isLater(one.name))).map((version) => `${name} ${version}`);
  });
  const only = lost.length === 0 ? '' : `; the next catalogs do not have ${listed(lost)}`;
  const message = `catalog ${quoted(before.name)} is removed, and none of an earlier version is left: clusters that use it get no more updates${only}`;
  const hint = `if clusters of ${before.name} are still supported, keep its folder`;
  report(message, location, {
    severity: 'warning',
    hint,
    ...(others.length === 0 ? { package: first } : {}),
  });
}

/**
 * Reports a package that is gone with its catalog, in the catalog that takes its place.
 *
 * @param change from the catalog as it was to the one that takes its place
 */
function reportRenamed(
  change: Change,
  name: string,
  { report, location }: { readonly report: Report; readonly location: Location },
): void {
  const [from, to] = [change.before.name, change.after.name];
  const renamed = `catalog ${quoted(from)} is renamed to ${quoted(to)}`;
  const lost = installationChanges(change, name).filter(
    ({ before, after }) => before.arrives && !after.arrives,
  );
  const [first] = lost;
  if (first) {
    const versions = versionsOf(lost.map(({ installed }) => installed));
    const message = `${renamed}, where ${listed(versions)} of package ${quoted(name)} cannot reach a channel head under OLM ${first.olm}: ${endText(first.after)}`;
    const hint = `correct the upgrade paths in ${to}, or keep ${from}`;
    report(message, location, { package: name, installed: versions, hint });
    return;
  }
  const message = `${renamed}, where every installed version of package ${quoted(name)} reaches a channel head: clusters that use ${quoted(from)} get no more updates`;
  const hint = `if clusters still use ${from}, copy its folder instead of renaming it`;
  report(message, location, { package: name, severity: 'warning', hint });
}

/**
 * The catalog of the platform's next version, where it is new and has the package, and nothing is left of this one: a
 * branch for the newest version moves the folder of its only catalog.
 */
function renamedTo({ before, after }: Change, name: string): World | undefined {
  if (after.catalog.packages.size > 0) return undefined;
  // Clusters of an earlier platform version come to this catalog: they would miss it.
  if (after.preceding.some(({ catalog }) => (catalog.packages.get(name)?.channels.size ?? 0) > 0))
    return undefined;
  const [next] = after.following;
  const was = before.following.find((world) => world.name === next?.name);
  if (!next || !was || was.catalog.packages.size > 0) return undefined;
  return (next.catalog.packages.get(name)?.channels.size ?? 0) > 0 ? next : undefined;
}
