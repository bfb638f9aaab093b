/**
 * The catalog resolver of operator-controller, written from its source and independent of Portolan's: on plain blobs, with
 * node-semver, for the one form of `version` that is generated, an exact version.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/df2c201d70e83d02eae23597d604269fa1baf20a/internal/operator-controller/resolve/catalog.go
 */
import semver from 'semver';

export interface Blob {
  readonly schema: string;
  readonly name: string;
  readonly package?: string;
  readonly entries?: readonly unknown[];
  readonly properties?: readonly { readonly type: string; readonly value: unknown }[];
}

interface ChannelEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly skipRange?: string;
}

export interface ClusterCatalog {
  readonly name: string;
  readonly priority: number;
  readonly blobs: readonly Blob[];
}

export interface Asked {
  readonly packageName: string;
  readonly version?: string;
  readonly channels?: readonly string[];
  readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
}

export interface Installed {
  readonly name: string;
  readonly version: string;
}

interface VersionRelease {
  readonly version: semver.SemVer;
  readonly release: readonly string[];
}

const DEPENDENCIES = ['olm.package.required', 'olm.gvk.required', 'olm.constraint'];

/** The name of the bundle that is resolved, or an error in operator-controller's words. */
export function resolveCatalog(
  catalogs: readonly ClusterCatalog[],
  asked: Asked,
  installed?: Installed,
): { readonly bundle: string } | { readonly error: string } {
  const labels = Object.entries(asked.selector?.matchLabels ?? {});
  const found: { bundle: Blob; deprecated: boolean; priority: number; catalog: string }[] = [];
  for (const { name, priority, blobs } of catalogs) {
    if (labels.some(([key, value]) => key !== 'olm.operatorframework.io/metadata.name' || value !== name))
      continue;
    const best = bestIn(blobs, asked, installed);
    if (!best) continue;
    const [prior] = found.slice(-1);
    if (prior && best.deprecated && !prior.deprecated) continue;
    if (prior && !best.deprecated && prior.deprecated) found.length = 0;
    found.push({ ...best, priority, catalog: name });
  }
  found.sort((a, b) => b.priority - a.priority);
  const [first, second] = found;
  if (!first) return { error: 'no bundles found' };
  if (second && second.priority === first.priority)
    return { error: 'in multiple catalogs with the same priority' };
  const refused = first.bundle.properties?.find(({ type }) => DEPENDENCIES.includes(type));
  return refused
    ? { error: `has a dependency declared via property ${refused.type}` }
    : { bundle: first.bundle.name };
}

function bestIn(
  blobs: readonly Blob[],
  { packageName, version, channels = [] }: Asked,
  installed: Installed | undefined,
): { bundle: Blob; deprecated: boolean } | undefined {
  const own = blobs.filter((blob) => blob.package === packageName);
  const all = own.filter(({ schema }) => schema === 'olm.channel');
  const chosen = channels.length === 0 ? all : all.filter(({ name }) => channels.includes(name));
  const deprecated = new Set(own.filter(({ schema }) => schema === 'olm.deprecations').flatMap(deprecatedIn));
  const candidates = own
    .filter(({ schema }) => schema === 'olm.bundle')
    .filter(({ name }) => channels.length === 0 || chosen.some((channel) => lists(channel, name)))
    .filter((bundle) => version === undefined || isSameVersion(versionOf(bundle).version, version))
    .filter((bundle) => !installed || follows(bundle, installed, chosen));
  candidates.sort(
    (a, b) =>
      Number(deprecated.has(a.name)) - Number(deprecated.has(b.name)) || compare(versionOf(b), versionOf(a)),
  );
  const [bundle] = candidates;
  return bundle && { bundle, deprecated: deprecated.has(bundle.name) };
}

function entriesOf({ entries = [] }: Blob): ChannelEntry[] {
  return entries as ChannelEntry[];
}

function deprecatedIn({ entries = [] }: Blob): string[] {
  const all = entries as { reference: { schema: string; name?: string } }[];
  return all.flatMap(({ reference }) => (reference.schema === 'olm.bundle' ? (reference.name ?? []) : []));
}

function lists(channel: Blob, name: string): boolean {
  return entriesOf(channel).some((entry) => entry.name === name);
}

/** Masterminds' `=`: build metadata makes no difference. */
function isSameVersion(version: semver.SemVer, wanted: string): boolean {
  return semver.compare(version, wanted) === 0;
}

/** A version whose build metadata is a release, in the way of registry+v1. */
function parse(text: string): VersionRelease {
  const [, build = ''] = text.split('+');
  const parts = build.split('.');
  const isRelease =
    build !== '' && parts.every((part) => /^(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)$/.test(part));
  return { version: new semver.SemVer(text), release: isRelease ? parts : [] };
}

function versionOf({ properties = [] }: Blob): VersionRelease {
  const value = properties.find(({ type }) => type === 'olm.package')?.value as { version: string };
  return parse(value.version);
}

function compare(a: VersionRelease, b: VersionRelease): number {
  return a.version.compare(b.version) || compareReleases(a.release, b.release);
}

function compareReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length - b.length;
  return semver.compare(`0.0.0-${a.join('.')}`, `0.0.0-${b.join('.')}`);
}

function follows(bundle: Blob, installed: Installed, channels: readonly Blob[]): boolean {
  if (compare(versionOf(bundle), parse(installed.version)) === 0) return true;
  return channels
    .flatMap(entriesOf)
    .some(
      (entry) =>
        entry.name === bundle.name &&
        (entry.replaces === installed.name ||
          entry.skips?.includes(installed.name) === true ||
          (entry.skipRange !== undefined && semver.satisfies(installed.version, entry.skipRange))),
    );
}
