import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import { daysAfter, Lifecycles, type LifecycleVersion } from '../../fbc/lifecycle.ts';
import { type Bundle, locate } from '../../fbc/model.ts';
import { compareMinors, formatMinor, type Minor } from '../../fbc/openshift.ts';
import { checkedPackages, upgradePathOf, type World } from '../../olm/foresight/world.ts';
import { supportedHeads } from '../reached-bundles.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'lifecycle/platform-ends',
    severity: 'warning',
    summary:
      "Reports channels whose offer does not work on the catalog's platform, or neither works on the next one nor has an upgrade that does",
    reads: ['catalogs'],
    checkWorld(world, report) {
      const { catalog, platform } = world;
      const lifecycles = new Lifecycles(catalog);
      for (const ofPackage of platform ? checkedPackages(world) : []) {
        const { name, defaultChannel } = ofPackage;
        for (const { bundle, channels } of supportedHeads(ofPackage)) {
          const known = lifecycles.of(name, bundle.version);
          const why =
            platform && known && defectOf(world, { bundle, channels, lifecycle: known.lifecycle, platform });
          if (!why) continue;
          const version = shortName(installedOf(bundle));
          const path = ['versions', known.lifecycle.index, 'platformCompatibility'] as const;
          report(`package ${quoted(name)}: ${version} ${why}`, locate(known.blob, ...path), {
            package: name,
            installed: [version],
            severity: channels.includes(defaultChannel) ? 'warning' : 'info',
            hint: 'publish a version for that platform, or add the platform to the version that works on it',
          });
        }
      }
    },
  },
  {
    id: 'lifecycle/support-ends',
    severity: 'warning',
    summary: 'Reports channels that offer what is not supported, by the lifecycle metadata of the package',
    checkWorld(world, report) {
      const { catalog, asOf } = world;
      if (asOf === undefined) return;
      const lifecycles = new Lifecycles(catalog);
      for (const ofPackage of checkedPackages(world)) {
        const { name, defaultChannel } = ofPackage;
        for (const { bundle, channels } of supportedHeads(ofPackage)) {
          const known = lifecycles.of(name, bundle.version);
          // Days such as 2026-01-31 are in order as texts.
          const end = known?.lifecycle.phases
            .map((phase) => phase.end)
            .sort()
            .at(-1);
          if (!known || end === undefined || end > daysAfter(asOf, SOON)) continue;
          const isOver = end < asOf;
          const version = shortName(installedOf(bundle));
          const message = `package ${quoted(name)}: support of ${version}, head of ${channels.map(quoted).join(', ')}, ${isOver ? 'ended' : 'ends'} on ${end}`;
          report(message, locate(known.blob, 'versions', known.lifecycle.index, 'name'), {
            package: name,
            installed: [version],
            severity: isOver && channels.includes(defaultChannel) ? 'warning' : 'info',
            hint: 'publish a supported version in the channel, or deprecate the channel',
          });
        }
      }
    },
  },
];

interface Head {
  readonly bundle: Bundle;
  readonly channels: readonly string[];
  readonly lifecycle: LifecycleVersion;
  readonly platform: Minor;
}

/** Why a head does not fit the catalog's platform or the next one, by its lifecycle metadata; undefined if it does. */
function defectOf(world: World, { bundle, channels, lifecycle, platform }: Head): string | undefined {
  const { openshift } = lifecycle;
  if (!openshift) return undefined;
  if (!worksOn(openshift, platform))
    return `does not work on OpenShift ${formatMinor(platform)}, which the catalog is for`;
  const [next] = world.following;
  if (!next?.platform || worksOn(openshift, next.platform)) return undefined;
  const isLeft = channels.some((channel) => !continuesOn(next, bundle, channel));
  const newest = openshift.at(-1);
  return isLeft && newest
    ? `works on OpenShift up to ${formatMinor(newest)}, and catalog ${quoted(next.name)} has no upgrade from it that works on ${formatMinor(next.platform)}`
    : undefined;
}

function worksOn(openshift: readonly Minor[], platform: Minor): boolean {
  return openshift.some((one) => compareMinors(one, platform) === 0);
}

/** Whether the catalog of the next platform offers an upgrade to a version that works there, or that has no lifecycle. */
function continuesOn(next: World, bundle: Bundle, channel: string): boolean {
  const { package: name } = bundle;
  const lifecycles = new Lifecycles(next.catalog);
  const isFine = ({ version }: Installed): boolean => {
    const openshift = lifecycles.of(name, version)?.lifecycle.openshift;
    return openshift === undefined || (next.platform !== undefined && worksOn(openshift, next.platform));
  };
  return [...next.olm].some((olm) => {
    const path = upgradePathOf(next.foresight, { olm, package: name, channel }, installedOf(bundle));
    return path.hops > 0 && (isFine(path.end) || (path.next.kind === 'upgrade' && isFine(path.next.to)));
  });
}

/** From so many days on, the console warns of the end. */
const SOON = 365;
