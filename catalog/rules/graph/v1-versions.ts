import { headOf } from '../../fbc/channel.ts';
import { type Installed, installedOf, shortName, versionText } from '../../fbc/edge.ts';
import { type Bundle, type Channel, locate, type Package } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { compareCandidates } from '../../olm/resolve/extension.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import {
  compareVersionReleases,
  type VersionRelease,
  versionReleaseKey,
  versionReleaseOf,
  withRelease,
} from '../../olm/resolve/release.ts';
import { formatVersion, type Version } from '../../version/version.ts';
import { suffixEdges } from '../downgrade.ts';
import { placeOfEntry, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/ambiguous-versions',
    severity: 'error',
    summary: 'Reports versions of a package that OLM v1 cannot order',
    checkWorld(world, report) {
      if (!world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        const versioned = [...ofPackage.bundles.values()].flatMap((bundle) => {
          const versionRelease = versionReleaseOf(bundle);
          return versionRelease ? [{ bundle, key: versionReleaseKey(versionRelease) }] : [];
        });
        for (const [first, ...others] of grouped(versioned, ({ key }) => key)) {
          for (const { bundle } of others) {
            const version = bundle.version && formatVersion(bundle.version);
            // The same text twice is refused by opm itself.
            if (!first?.bundle.version || version === formatVersion(first.bundle.version)) continue;
            const message = `package ${quoted(ofPackage.name)}: OLM v1 cannot order ${versionText(first.bundle)} and ${versionText(bundle)} and may install either: it compares what follows the + only as a release (identifiers without leading zeros, at most 20 characters)`;
            const at = bundle.properties.findIndex(({ type }) => type === 'olm.package');
            report(message, locate(bundle, 'properties', at, 'value', 'version'), {
              package: ofPackage.name,
              subject: [first.bundle.name, bundle.name].sort().join(' '),
              installed: [shortName(first.bundle), shortName(bundle)],
              hint: 'give each bundle a different version',
            });
          }
        }
      }
    },
  },
  {
    id: 'graph/semver-order-trap',
    severity: 'error',
    summary:
      'Reports successors with a lower version than the bundle that they replace: for OLM v1, 1.0.1-1 is lower than 1.0.1',
    checkWorld(world, report) {
      if (!world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        const traps = suffixEdges(ofPackage);
        for (const [trap] of grouped(traps, ({ from, to }) => JSON.stringify([from.name, to.name]))) {
          if (!trap) continue;
          const { channel, entry, field, from, to } = trap;
          const [versionRelease, than] = [versionReleaseOf(to), versionReleaseOf(from)];
          if (!versionRelease || !than) continue;
          if (!isHeldUp(world, ofPackage, from)) continue;
          const why = whyNotHigher(versionRelease, than);
          const message = `package ${quoted(ofPackage.name)}: ${versionText(to)} ${field === 'replaces' ? 'replaces' : 'skips'} ${versionText(from)} but is not a higher version, because ${why}: OLM v1 never offers it`;
          report(message, placeOfEntry(channel, entry.index, field), {
            package: ofPackage.name,
            channel: channel.name,
            subject: `${from.name} ${to.name}`,
            installed: [shortName(from)],
            hint: hintFor(ofPackage, to, from),
          });
        }
      }
    },
  },
  {
    id: 'graph/v0-v1-disagree',
    severity: 'warning',
    summary: 'Reports installations that OLM v0 and OLM v1 upgrade to different bundles',
    checkWorld(world, report) {
      if (!world.olm.has('v0') || !world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        for (const channel of ofPackage.channels.values()) {
          const differences = differencesIn(world, ofPackage, channel);
          if (differences.length === 0) continue;
          const message = `${channelText(channel.name, ofPackage.name)}: OLM v0 and OLM v1 choose different upgrades for ${listed(differences.map(({ text }) => text))}`;
          report(message, placeOfHead(channel), {
            package: ofPackage.name,
            channel: channel.name,
            installed: differences.map(({ from }) => shortName(from)),
            hint: 'test the upgrade with both OLM versions: v0 picks the entry closest to the head, v1 picks the highest version even if it is skipped',
          });
        }
      }
    },
  },
  {
    id: 'graph/v1-default-install-surprise',
    severity: 'warning',
    summary:
      'Reports packages of which OLM v1, without a channel, installs a pre-release or not the head of the default channel',
    checkWorld(world, report) {
      if (!world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        const channel = ofPackage.channels.get(ofPackage.defaultChannel);
        const head = channel && headOf(channel);
        const bundle = head && ofPackage.bundles.get(head.name);
        const installed = installedFromAllChannels(ofPackage);
        const location = placeOfPackage(world, ofPackage.name, 'defaultChannel');
        if (!bundle || !installed || !location) continue;
        const isPrerelease = (installed.version?.prerelease.length ?? 0) > 0;
        if (installed.name === bundle.name && !isPrerelease) continue;
        const surprise =
          installed.name === bundle.name
            ? `the pre-release ${shortName(installed)}`
            : `${shortName(installed)}${isPrerelease ? ', a pre-release' : ''}, not the head of the default channel, ${shortName(bundle)}`;
        const message = `under OLM v1 an extension of package ${quoted(ofPackage.name)} without a channel gets ${surprise}`;
        const hint = `tell users of OLM v1 to set channels: [${ofPackage.defaultChannel}]`;
        const subject = isPrerelease ? 'pre-release' : 'another channel';
        report(message, location, { package: ofPackage.name, subject, hint });
      }
    },
  },
];

/** Whether only the order of versions keeps OLM v1 from an upgrade: nothing else that it could take is higher. */
function isHeldUp(world: World, ofPackage: Package, from: Bundle): boolean {
  const { next } = world.foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(from));
  return next.kind === 'stays' && next.reason.code === 'successor-lower';
}

function hintFor(ofPackage: Package, to: Bundle, from: Bundle): string {
  const versions = higherVersions(ofPackage, to, from);
  return versions.length > 0
    ? `publish it as ${versions.join(' or ')}`
    : `publish it with a version above ${versionText(from)} that no other bundle has`;
}

/** Entries from which OLM v0 and OLM v1 go to different bundles. */
function differencesIn(
  { foresight }: World,
  ofPackage: Package,
  channel: Channel,
): { from: Installed; text: string }[] {
  return channel.entries.flatMap((entry) => {
    const bundle = ofPackage.bundles.get(entry.name);
    if (!bundle) return [];
    const from = installedOf(bundle);
    const v0 = upgradeOf(foresight.v0({ package: ofPackage.name, channel: channel.name }, from).next)?.to;
    const v1 = upgradeOf(foresight.v1({ package: ofPackage.name, channels: [channel.name] }, from).next)?.to;
    // Other rules report installations that are stuck under one of them.
    if (!v0 || !v1 || v0.name === v1.name) return [];
    return [{ from, text: `${shortName(from)} (${shortName(v0)} or ${shortName(v1)})` }];
  });
}

/** The version that OLM v1 installs from all channels together. */
function installedFromAllChannels(ofPackage: Package): Bundle | undefined {
  const candidates = [...ofPackage.bundles.values()].map((bundle) => ({
    bundle,
    versionRelease: versionReleaseOf(bundle),
    deprecated: ofPackage.deprecatedBundles.has(bundle.name),
    edge: 'none' as const,
  }));
  return candidates.sort(compareCandidates)[0]?.bundle;
}

// Why OLM v1 does not take one version for higher than another, and which versions would be.

/** Why a version with the same numbers is not higher than another one, in the order of OLM v1. */
function whyNotHigher(to: VersionRelease, from: VersionRelease): string {
  const [a, b] = [to.version.prerelease, from.version.prerelease];
  if (a.length > 0 && b.length === 0) return 'a suffix after - makes a version lower';
  const at = a.findIndex((part, i) => part !== b[i]);
  if (at >= 0) return partText(a[at], b[at]);
  if (a.length < b.length) return `${a.join('.')} is lower than ${b.join('.')}, which has more parts`;
  if (compareVersionReleases(to, from) === 0) return 'both are the same version to OLM v1';
  return `its release (after +) ${to.release.join('.') || 'is empty and'} is lower than ${from.release.join('.')}`;
}

type Part = Version['prerelease'][number] | undefined;

/** Why one part of a pre-release sorts before another one. */
function partText(part: Part, other: Part): string {
  if (typeof part === 'string' && typeof other === 'string') {
    return `${part} sorts before ${other}: after -, parts with letters are compared as text`;
  }
  if (typeof part === 'string') return `${part} is lower than ${other}`;
  return typeof other === 'string'
    ? `after -, the number ${part} is lower than the text ${other}`
    : `${part} is lower than ${other}`;
}

/** Versions that a bundle could have to be an upgrade of another one, and that no bundle of the package has. */
export function higherVersions(ofPackage: Package, to: Bundle, from: Bundle): string[] {
  const [target, source] = [to.version, from.version];
  const lower = versionReleaseOf(from);
  if (!target || !source || !lower) return [];
  const taken = [...ofPackage.bundles.values()].flatMap((bundle) => versionReleaseOf(bundle) ?? []);
  const following = followersOf(ofPackage, to);
  const isFree = (version: Version): boolean => {
    const own = withRelease(version);
    return (
      compareVersionReleases(own, lower) > 0 &&
      taken.every((other) => compareVersionReleases(own, other) !== 0) &&
      following.every((other) => compareVersionReleases(own, other) < 0)
    );
  };
  const proposed =
    source.prerelease.length > 0
      ? [nextPart(source), nextPatch(source)]
      : [nextPatch(source), asBuild(source, target)];
  return [...new Set(proposed.filter(isFree).map(formatVersion))];
}

/** The bundles that replace or skip a bundle: they must have higher versions. */
function followersOf(ofPackage: Package, to: Bundle): VersionRelease[] {
  const own = versionReleaseOf(to);
  return [...ofPackage.channels.values()]
    .flatMap(({ entries }) => entries)
    .filter(({ replaces, skips }) => replaces === to.name || skips.includes(to.name))
    .flatMap(({ name }) => {
      const bundle = ofPackage.bundles.get(name);
      const version = bundle && versionReleaseOf(bundle);
      return version && own && compareVersionReleases(version, own) > 0 ? [version] : [];
    });
}

function nextPatch(version: Version): Version {
  return { ...version, patch: BigInt(version.patch) + 1n, prerelease: [], build: [] };
}

/** One more part makes a pre-release higher. */
function nextPart(version: Version): Version {
  return { ...version, prerelease: [...version.prerelease, 1n], build: [] };
}

/** The suffix of the target as build metadata, by which OLM v1 orders versions of the same numbers: `1.0.1+1` for `1.0.1-1`. */
function asBuild(source: Version, target: Version): Version {
  if (source.build.length === 0) {
    const suffix = [...target.prerelease.map(String), ...target.build];
    return { ...source, build: suffix.length > 0 ? suffix : ['1'] };
  }
  return { ...source, build: [...source.build, '1'] };
}
