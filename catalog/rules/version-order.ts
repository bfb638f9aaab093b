/** Why OLM v1 does not take one version for higher than another, and which versions would be. */
import type { Bundle, Package } from '../fbc/model.ts';
import {
  compareVersionReleases,
  type VersionRelease,
  versionReleaseOf,
  withRelease,
} from '../olm/resolve/release.ts';
import { formatVersion, type Version } from '../version/version.ts';

/** Why a version with the same numbers is not higher than another one, in the order of OLM v1. */
export function whyNotHigher(to: VersionRelease, from: VersionRelease): string {
  const [a, b] = [to.version.prerelease, from.version.prerelease];
  if (a.length > 0 && b.length === 0) return 'a suffix after - makes a version lower';
  const at = a.findIndex((part, i) => part !== b[i]);
  if (at >= 0) return partText(a[at], b[at]);
  if (a.length < b.length) return `${a.join('.')} is lower than ${b.join('.')}, which has more parts`;
  if (compareVersionReleases(to, from) === 0) return 'both are the same version to OLM v1';
  return `its release (after +) ${to.release.join('.') || 'is empty and'} is lower than ${from.release.join('.')}`;
}

type Part = Version['prerelease'][number] | undefined;

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

/** The suffix as build metadata, which orders versions of the same numbers; else the release after the present one. */
function asBuild(source: Version, target: Version): Version {
  if (source.build.length === 0) {
    const suffix = [...target.prerelease.map(String), ...target.build];
    return { ...source, build: suffix.length > 0 ? suffix : ['1'] };
  }
  return { ...source, build: [...source.build, '1'] };
}
