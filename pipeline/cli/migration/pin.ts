/**
 * The version pin of a ClusterExtension that OLM v1 resolves to the bundle that is installed already: its resolver is asked,
 * for a new installation and for one that was adopted.
 */
import { CATALOG_NAME_LABEL } from '../../../catalog/bundle/extension.ts';
import { type Installed, versionText } from '../../../catalog/fbc/edge.ts';
import type { Package } from '../../../catalog/fbc/model.ts';
import { isDnsSubdomain } from '../../../catalog/names.ts';
import { resolveExtension } from '../../../catalog/olm/resolve/extension.ts';
import { storedVersion, withRelease } from '../../../catalog/olm/resolve/release.ts';
import type { Scope, ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';

export interface Wanted {
  readonly package: string;
  readonly installed: Installed;
  /** That of the Subscription; empty for the default one. */
  readonly channel: string;
  /** Name of the ClusterCatalog that the installed bundle's updates came from. */
  readonly preferred: string;
}

/** What a ClusterExtension names to get one bundle: the ClusterCatalog, the channel and the exact version. */
interface Pin {
  readonly source: ScopeCatalog;
  readonly channel: string;
  readonly version: string;
}

/** The pin, or why there is none. */
export function pinOf(catalogs: readonly ScopeCatalog[], wanted: Wanted): Pin | { readonly why: string } {
  const { installed, package: name } = wanted;
  if (!installed.version) return { why: `the version of ${installed.name} is not known` };
  const version = versionText(installed);
  // `maxLength` of the version in the CRD of ClusterExtensions.
  if (version.length > 64) return { why: 'OLM v1 accepts versions of at most 64 characters' };
  const reasons: string[] = [];
  for (const source of rankedCatalogs(catalogs, wanted)) {
    const ofPackage = source.catalog.packages.get(name);
    for (const channel of ofPackage ? channelsOf(ofPackage, wanted) : []) {
      const pin = { source, channel, version };
      const why = whyMissed(pin, { catalogs, wanted });
      if (why === undefined) return pin;
      reasons.push(why);
    }
  }
  return { why: reasons[0] ?? `no catalog has ${installed.name} in a channel` };
}

/** The preferred catalog, then the others that have the bundle, by priority. */
function rankedCatalogs(
  catalogs: readonly ScopeCatalog[],
  { package: packageName, installed, preferred }: Wanted,
): ScopeCatalog[] {
  // 1 for the preferred one, which so comes first.
  const own = (one: ScopeCatalog): number => Number(one.name === preferred);
  return catalogs
    .filter(({ catalog }) => catalog.packages.get(packageName)?.bundles.has(installed.name))
    .sort((a, b) => own(b) - own(a) || b.priority - a.priority);
}

/** The Subscription's channel, then the others with the bundle: it may be what distinguishes two builds of a version. */
function channelsOf({ channels, defaultChannel }: Package, { channel, installed }: Wanted): string[] {
  const own = channel === '' ? defaultChannel : channel;
  const having = [...channels.values()]
    // OLM v1 accepts no other names.
    .filter(
      ({ name, entries }) => isDnsSubdomain(name) && entries.some((entry) => entry.name === installed.name),
    )
    .map(({ name }) => name);
  return [...having.filter((name) => name === own), ...having.filter((name) => name !== own)];
}

/** What OLM v1 would do if a pin does not lead to the installed bundle; undefined if it does. */
function whyMissed(
  { source, channel, version }: Pin,
  { catalogs, wanted }: { readonly catalogs: readonly ScopeCatalog[]; readonly wanted: Wanted },
): string | undefined {
  const { installed } = wanted;
  const scope: Scope = { catalogs };
  const asked = {
    package: wanted.package,
    version,
    channels: [channel],
    policy: 'CatalogProvided',
    selects: (labels: Readonly<Record<string, string>>) => labels[CATALOG_NAME_LABEL] === source.name,
  } as const;
  const stored = installed.version ? storedVersion(withRelease(installed.version)) : version;
  // First as a new installation, then as one that was adopted: both must get the same bundle.
  for (const now of [undefined, { name: installed.name, version: stored }]) {
    const { outcome, ties } = resolveExtension(scope, { ...asked, installed: now });
    // A bundle with dependencies is chosen before it is refused, which is said of the bundle, not of the pin.
    const isChosen =
      outcome.kind === 'fails' &&
      outcome.reason.code === 'dependency' &&
      outcome.reason.bundle === installed.name;
    if (outcome.kind === 'fails' && !isChosen) return outcome.reason.text;
    const found = outcome.kind === 'upgrade' ? outcome.to.name : installed.name;
    // Of ties, a cluster may take any.
    if (found !== installed.name || ties.length > 0) {
      const other = found === installed.name ? ties[0] : found;
      return `${installed.name} cannot be pinned: OLM v1 takes ${other} for version ${version} in channel ${channel}`;
    }
  }
  return undefined;
}
