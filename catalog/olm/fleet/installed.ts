/** Which bundle of a catalog a fleet's installation is. */
import { edgeField, type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { compareVersions, formatVersion, tryParseVersion } from '../../version/version.ts';
import type { World } from '../foresight/world.ts';
import type { FleetInstallation } from './fleet.ts';

/** The endings by which names of bundles give their versions. */
const ENDINGS = ['.v', '.', '-v', '-'];

/**
 * The bundle that is installed: one that the catalog has or had, or one that an entry upgrades.
 * Undefined for what was never published as far as anybody knows.
 */
export function installedIn(world: World, installation: FleetInstallation): Installed | undefined {
  const ofPackage = world.catalog.packages.get(installation.package);
  const found =
    installation.name === ''
      ? byVersion(world, ofPackage, installation)
      : byName(world, ofPackage, installation);
  if (!found) return undefined;
  const isOwn = ofPackage?.bundles.has(found.name) ?? false;
  const isPublished = world.isPublished({ package: installation.package, bundle: found.name });
  return isOwn && !isPublished ? undefined : found;
}

/**
 * The installed bundle by its name; its version is the best that anyone states: the catalog, what was published, the
 * fleet.
 */
function byName(
  world: World,
  ofPackage: Package | undefined,
  { package: of, name, version }: FleetInstallation,
): Installed | undefined {
  const bundle = ofPackage?.bundles.get(name);
  if (bundle) return installedOf(bundle);
  const parsed = tryParseVersion(version);
  const past = world.published.get(of)?.find((one) => one.name === name);
  if (past) return { name, version: past.version ?? parsed };
  return upgraded(ofPackage, { name, version: parsed });
}

function byVersion(
  world: World,
  ofPackage: Package | undefined,
  { package: of, version, channels }: FleetInstallation,
): Installed | undefined {
  const bundles = [...(ofPackage?.bundles.values() ?? [])].filter((bundle) => hasVersion(bundle, version));
  const bundle = bundles.find(({ name }) => isListed(ofPackage, channels, name)) ?? bundles[0];
  if (bundle) return installedOf(bundle);
  const past = world.published.get(of)?.find((one) => one.version && formatVersion(one.version) === version);
  if (past) return { name: past.name, version: past.version };
  const called = calledByVersion(ofPackage, of, version);
  return called && upgraded(ofPackage, called);
}

/** A bundle that is gone, with the name that entries give it or that it most likely had. */
function calledByVersion(ofPackage: Package | undefined, of: string, version: string): Installed | undefined {
  const parsed = tryParseVersion(version);
  if (!parsed) return undefined;
  const named = namesInEntries(ofPackage).find((name) =>
    ENDINGS.some((ending) => name.endsWith(ending + version)),
  );
  return { name: named ?? `${of}.v${version}`, version: parsed };
}

/**
 * A bundle that the catalog no longer has and that nothing upgrades: whoever runs it got it from somewhere. Undefined
 * where all is known that was ever published, and for what is newer than all that the catalog has: it was not dropped.
 */
export function droppedFrom(
  world: World,
  { package: of, name, version }: FleetInstallation,
): Installed | undefined {
  const ofPackage = world.catalog.packages.get(of);
  if (!ofPackage) return undefined;
  const called = calledByVersion(ofPackage, of, version);
  const dropped = called && name !== '' ? { ...called, name } : called;
  if (!dropped?.version || ofPackage.bundles.has(dropped.name)) return undefined;
  const { version: own } = dropped;
  const isOlder = [...ofPackage.bundles.values()].some(
    ({ version: other }) => other && compareVersions(own, other) < 0,
  );
  if (!isOlder) return undefined;
  return world.isPublished({ package: of, bundle: dropped.name }) ? dropped : undefined;
}

function hasVersion(bundle: Bundle, version: string): boolean {
  return bundle.version !== undefined && formatVersion(bundle.version) === version;
}

function isListed(ofPackage: Package | undefined, channels: readonly string[], name: string): boolean {
  return [...(ofPackage?.channels.values() ?? [])]
    .filter((channel) => channels.length === 0 || channels.includes(channel.name))
    .some(({ entries }) => entries.some((entry) => entry.name === name));
}

function namesInEntries(ofPackage: Package | undefined): string[] {
  return [...(ofPackage?.channels.values() ?? [])].flatMap(({ entries }) =>
    entries.flatMap(({ replaces, skips }) => [replaces, ...skips]),
  );
}

/** A version that an entry upgrades was installed once, even if the catalog no longer has it. */
function upgraded(ofPackage: Package | undefined, installed: Installed): Installed | undefined {
  const isUpgraded = [...(ofPackage?.channels.values() ?? [])].some(({ entries }) =>
    entries.some((entry) => edgeField(entry, installed) !== undefined),
  );
  return isUpgraded ? installed : undefined;
}

/** Whether a catalog has, had or names a bundle: of another one only the fleet knows the name, which is nobody else's business. */
export function isNamed({ catalog, published }: World, of: string, { name }: Installed): boolean {
  const ofPackage = catalog.packages.get(of);
  return (
    ofPackage?.bundles.has(name) ||
    (published.get(of) ?? []).some((one) => one.name === name) ||
    namesInEntries(ofPackage).includes(name)
  );
}
