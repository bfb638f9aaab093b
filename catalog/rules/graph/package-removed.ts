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
  reads: ['history'],
  compare(change, report) {
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
      const versions = versionsOf(withoutChannels(publishedInstallations(change.before, name)));
      const message = `package ${quoted(name)} is removed: OLM v0 cannot resolve anything in namespaces that subscribe to it, and OLM v1 reports an error for every extension of it`;
      const hint =
        was.deprecation === undefined
          ? 'keep the package for one more release and deprecate it: reference: {schema: olm.package}'
          : 'it was deprecated before: waive this finding once users have had time to move';
      report(message, location, { package: name, installed: versions, hint });
    }
  },
};

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
  // Clusters of an earlier platform version come here.
  if (after.preceding.some(({ catalog }) => (catalog.packages.get(name)?.channels.size ?? 0) > 0))
    return undefined;
  const [next] = after.following;
  const was = before.following.find((world) => world.name === next?.name);
  if (!next || !was || was.catalog.packages.size > 0) return undefined;
  return (next.catalog.packages.get(name)?.channels.size ?? 0) > 0 ? next : undefined;
}
