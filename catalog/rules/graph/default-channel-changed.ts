import { headOf } from '../../fbc/channel.ts';
import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import type { Package } from '../../fbc/model.ts';
import { fixFor } from '../../olm/foresight/fix.ts';
import { type InstallationChange, installationChanges } from '../../olm/foresight/installation-change.ts';
import { type Change, lowestEndOf, type World } from '../../olm/foresight/world.ts';
import { compareVersionReleases, withRelease } from '../../olm/resolve/release.ts';
import { compareVersions, type Version } from '../../version/version.ts';
import { placeOfPackage } from '../finding-location.ts';
import { endText, listed, versionsOf } from '../message-text.ts';
import { type Details, quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/default-channel-changed',
  severity: 'error',
  summary:
    'Reports new default channels in which subscriptions without a channel no longer reach the same version',
  harm: { rank: 9, kind: 'change' },
  reads: ['catalogs', 'history'],
  compare(change, report) {
    for (const name of change.packages) {
      const was = change.before.catalog.packages.get(name);
      const is = change.after.catalog.packages.get(name);
      const location = placeOfPackage(change.after, name, 'defaultChannel');
      if (!was?.blob || !is?.blob || was.defaultChannel === is.defaultChannel || !location) continue;
      const changed = `the default channel of package ${quoted(name)} changes from ${quoted(was.defaultChannel)} to ${quoted(is.defaultChannel)}`;
      // It has no channel: who leaves one is harmed as well as who comes to the other.
      const details = { package: name };
      const lost = lostBy(change, name);
      if (lost.length > 0) {
        const versions = versionsOf(lost);
        const message = `${changed}: under OLM v0 subscriptions without a channel at ${listed(versions)} no longer reach the same version as before`;
        const hint = `add upgrade edges from them to channel ${is.defaultChannel}, or keep: defaultChannel: ${was.defaultChannel}`;
        report(message, location, { ...details, installed: versions, hint });
        continue;
      }
      const note = noteOf(change, was, is.defaultChannel);
      report(`${changed}${note.text}`, location, { ...details, ...note.details, severity: 'info' });
    }
  },
};

/**
 * The note about a new default channel by which no subscription without a channel loses anything: whether the head of
 * the old channel has an upgrade path there.
 */
function noteOf(
  { before, after }: Change,
  was: Package,
  channel: string,
): { readonly text: string; readonly details: Details } {
  const old = was.channels.get(was.defaultChannel);
  const head = old && headOf(old);
  const bundle = head && was.bundles.get(head.name);
  // Under OLM v1 nobody follows the default channel.
  const asked = after.olm.has('v0') ? bundle : undefined;
  const path = asked && after.foresight.v0({ package: was.name, channel }, installedOf(asked));
  if (!bundle || !path || path.arrives)
    return {
      text: ': new installations use the new one, subscriptions that name a channel keep it',
      details: {
        hint: 'mention it in the release notes, and deprecate the old channel if it gets no more updates',
      },
    };
  const installed = [installedOf(bundle)];
  const fix = fixFor(after, { package: was.name, channel, olm: 'v0', installed }, before);
  return {
    text: `, but the old head ${shortName(bundle)} has no upgrade path to the new head: ${endText(path)}`,
    details: {
      installed: [shortName(bundle)],
      hint: fix?.text ?? `add ${bundle.name} to replaces or skips of an entry in channel ${channel}`,
    },
  };
}

/** Installations whose subscription names no channel and that end in an error, or lower than before. */
function lostBy(change: Change, name: string): Installed[] {
  const withoutChannel = installationChanges(change, name).filter(
    ({ olm, channel }) => olm === 'v0' && channel === '',
  );
  const isLost = ({ before: was, after: is, installed }: InstallationChange): boolean => {
    if (was.last.kind === 'fails') return false;
    if (is.last.kind === 'fails') return true;
    // Who went in a circle was never settled anywhere; who goes in one now is not any more.
    if (is.last.kind === 'circle' && was.last.kind !== 'circle') return true;
    const [before, after] = [change.before, change.after].map(({ foresight }) =>
      lowestEndOf(foresight, { olm: 'v0', package: name, channel: '' }, installed),
    );
    const high = before && offeredVersion(change.before, name, before);
    return high && after?.version ? isLower(after.version, high) : false;
  };
  return withoutChannel.filter(isLost).map(({ installed }) => installed);
}

/** A rebuild is higher than what it rebuilds. */
function isLower(one: Version, other: Version): boolean {
  return compareVersionReleases(withRelease(one), withRelease(other)) < 0;
}

/**
 * The version at which a path ended for clusters. If the end of the path was never published, no cluster has it: then it is
 * the highest version that was published in the default channel.
 */
function offeredVersion({ catalog, isPublished }: World, name: string, at: Installed): Version | undefined {
  if (isPublished({ package: name, bundle: at.name })) return at.version;
  const { defaultChannel = '', channels, bundles } = catalog.packages.get(name) ?? {};
  const versions = (channels?.get(defaultChannel)?.entries ?? [])
    .filter((entry) => isPublished({ package: name, channel: defaultChannel, bundle: entry.name }))
    .flatMap((entry) => bundles?.get(entry.name)?.version ?? []);
  return versions.sort(compareVersions).at(-1);
}
