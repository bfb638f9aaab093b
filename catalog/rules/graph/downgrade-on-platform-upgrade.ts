import { type Installed, shortName, versionText } from '../../fbc/edge.ts';
import { isHeldBack } from '../../fbc/openshift.ts';
import {
  type Installation,
  publishedInstallations,
  withoutChannels,
} from '../../olm/foresight/installation.ts';
import {
  checkedPackages,
  type Following,
  lowestEndOf,
  upgradePathOf,
  type World,
} from '../../olm/foresight/world.ts';
import { type Upgrade, upgradeOf } from '../../olm/resolve/outcome.ts';
import { lowering } from '../downgrade.ts';
import { channelIn, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { grouped, listed, versionsOf } from '../message-text.ts';
import { stepsOf } from '../platform-upgrade.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/downgrade-on-platform-upgrade',
  severity: 'error',
  summary:
    'Reports installed versions that are downgraded when clusters upgrade to the next platform versions',
  reads: ['catalogs', 'history'],
  comparisonTellsNews: true,
  foresee(world, report) {
    const all = checkedPackages(world).flatMap(({ name }) => [...downgradesIn(world, name).values()]);
    tell(all, { world, report, severity: 'warning' });
  },
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const now = downgradesIn(after, name);
      if (now.size === 0) continue;
      const was = downgradesIn(before, name);
      // A cluster that got an error before is not worse off.
      const had = new Set(
        installationsIn(before, name)
          .filter((one) => upgradePathOf(before.foresight, one, one.installed).last.kind !== 'fails')
          .map(installationKey),
      );
      const fresh = [...now].filter(([key, { depth }]) => depth > (was.get(key)?.depth ?? 0));
      // What can be installed only after the merge is on no cluster yet; what leads there is reported by itself.
      const [present, later] = [true, false].map((isThere) =>
        fresh.flatMap(([, down]) => (had.has(installationKey(down)) === isThere ? [down] : [])),
      );
      const isTold = new Set(present?.map(({ end, to }) => JSON.stringify([end.name, to.name])));
      const others = (later ?? []).filter(
        ({ end, to, channel }) =>
          !isTold.has(JSON.stringify([end.name, to.name])) && !hasChannel(before, name, channel),
      );
      tell(present ?? [], { world: after, report, severity: 'error' });
      tell(others, { world: after, report, severity: 'warning' });
    }
  },
};

/** An installation, with the upgrades that it follows. */
type Place = Following & Pick<Installation, 'installed'>;

/** An installation that is downgraded when its cluster goes to another catalog. */
interface Downgrade extends Place {
  readonly to: World;
  /** The installed version before the platform upgrade: the end of the upgrade path. */
  readonly end: Installed;
  readonly upgrade: Upgrade;
  readonly depth: 1 | 2;
}

function installationKey({ olm, channel, installed }: Place): string {
  return JSON.stringify([olm, channel, installed.name]);
}

function hasChannel({ catalog }: World, name: string, channel: string): boolean {
  const ofPackage = catalog.packages.get(name);
  return channel === '' ? ofPackage !== undefined : (ofPackage?.channels.has(channel) ?? false);
}

/** Versions that clusters may have, with and without a channel: under OLM v1 most extensions select none. */
function installationsIn(world: World, name: string): Place[] {
  const all = publishedInstallations(world, name);
  const open = withoutChannels(all).map((installed) => ({ channel: '', installed }));
  return [...world.olm].flatMap((olm) =>
    (olm === 'v0' ? [...all, ...open] : open).map(
      ({ channel, installed }): Place => ({ olm, package: name, channel, installed }),
    ),
  );
}

/** The installations that are downgraded at the next platform version, or at one that clusters skip to. */
function downgradesIn(world: World, name: string): Map<string, Downgrade> {
  const steps = stepsOf(world).filter((to) => to.catalog.packages.has(name));
  if (steps.length === 0) return new Map();
  const bundles = world.catalog.packages.get(name)?.bundles;
  const found = new Map<string, Downgrade>();
  for (const place of installationsIn(world, name)) {
    const end = lowestEndOf(world.foresight, place, place.installed);
    const bundle = bundles?.get(end.name);
    for (const to of steps) {
      if (bundle && isHeldBack(bundle, to.platform)) continue;
      const upgrade = upgradeOf(upgradePathOf(to.foresight, place, end).next);
      const depth = lowering(end.version, upgrade?.to.version);
      const key = JSON.stringify([installationKey(place), to.name]);
      if (upgrade && depth !== 0) found.set(key, { ...place, to, end, upgrade, depth });
    }
  }
  return found;
}

interface DowngradeReport {
  readonly world: World;
  readonly report: Report;
  readonly severity: 'warning' | 'error';
}

/** Tells of downgrades: those of a package to one bundle of one catalog are one finding. */
function tell(downgrades: readonly Downgrade[], { world, report, severity }: DowngradeReport): void {
  const key = ({ package: name, to, upgrade, depth }: Downgrade): string =>
    JSON.stringify([name, to.name, upgrade.to.name, upgrade.edge, depth]);
  for (const group of grouped(downgrades, key)) {
    const [first] = group;
    if (!first) continue;
    const { package: name, to, upgrade, depth } = first;
    const channels = [...new Set(group.flatMap((one) => (one.channel === '' ? [] : [one.channel])))];
    const channel = channelIn(world, name, channels[0] ?? '');
    const location = channel ? placeOfHead(channel) : placeOfPackage(world, name);
    // Another rule reports that the package is gone.
    if (!location) continue;
    const versions = versionsOf(group.map(({ end }) => end));
    const olm = [...new Set(group.map((one) => `OLM ${one.olm}`))].sort();
    const message = `when clusters upgrade from ${world.name} to ${to.name}, ${listed(versions)} of package ${quoted(name)} would be downgraded to ${shortName(upgrade.to)} under ${listed(olm)}: its ${upgrade.edge} there covers newer versions`;
    report(message, location, {
      package: name,
      // What a policy allows in one channel it does not allow in the others.
      ...(channel && channels.length === 1 ? { channel: channel.name } : {}),
      subject: `${to.name} ${upgrade.to.name}`,
      installed: versions,
      severity: depth === 2 ? severity : 'warning',
      hint: `publish ${versions.at(-1)} or a higher version than ${versionText(upgrade.to)} in ${to.name} as well, or set olm.maxOpenShiftVersion so that clusters do not upgrade yet`,
    });
  }
}
