/**
 * What OLM v1 does with a ClusterExtension: which bundles of which catalogs are left,
 * and which of them it takes. A port of the catalog resolver of operator-controller.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/resolve/catalog.go
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/catalogmetadata/filter/successors.go
 */

import { headsOf, selectedIn } from '../../fbc/channel.ts';
import { type EdgeField, edgeField, type Installed, installedOf } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { compareText } from '../../go/text.ts';
import { meets, parseVersionConstraint, type VersionConstraint } from '../../version/constraint.ts';
import { compareVersions, formatVersion, VersionError } from '../../version/version.ts';
import { firstFollower } from './followers.ts';
import {
  type Fails,
  type Outcome,
  type PlacedOutcome,
  placedIn,
  type Reason,
  staysBecause,
} from './outcome.ts';
import { compareVersionReleases, parseStored, type VersionRelease, versionReleaseOf } from './release.ts';
import type { Scope, ScopeCatalog } from './snapshot.ts';

/** The specification of a ClusterExtension. */
export interface Extension {
  readonly package: string;
  /** A version or a range of them, or empty for any. */
  readonly version: string;
  /** Empty for all channels. */
  readonly channels: readonly string[];
  readonly policy: 'CatalogProvided' | 'SelfCertified';
  readonly installed: InstalledBundle | undefined;
  /** Which catalogs to look at; all without it. */
  readonly selects?: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  /** Whether the cluster has the feature gate BundleReleaseSupport. */
  readonly releases?: boolean;
}

/** As OLM v1 stores it. */
interface InstalledBundle {
  readonly name: string;
  readonly version: string;
  readonly release?: string | undefined;
}

export interface ExtensionResolution {
  readonly outcome: PlacedOutcome;
  /** Names of the bundles that were left, by catalog, the best first. */
  readonly candidates: ReadonlyMap<string, readonly string[]>;
  /** Bundles that are as good as the one that was taken: a cluster may take any of them. */
  readonly ties: readonly string[];
}

/** What OLM v1 installs for an extension, with all bundles that it could choose from. */
export function resolveExtension(scope: Scope, extension: Extension): ExtensionResolution {
  const query = readQuery(extension);
  if ('kind' in query) return { outcome: query, candidates: new Map(), ties: [] };
  const selected = scope.catalogs.filter(({ labels = {} }) => extension.selects?.(labels) ?? true);
  const lists = selected.map((source) => {
    const ofPackage = source.serving ? source.catalog.packages.get(extension.package) : undefined;
    const all = ofPackage ? candidates(ofPackage, query) : [];
    return { source, best: all[0], all: () => all };
  });
  const { outcome, taken } = chooseCandidate(selected, lists, extension);
  const names = lists.map(
    ({ source, all }) => [source.name, all().map(({ bundle }) => bundle.name)] as const,
  );
  return { candidates: new Map(names), outcome, ties: taken ? tiesOf(taken.all()) : [] };
}

/** The names of the candidates that are as good as the best one. */
function tiesOf([best, ...others]: readonly Candidate[]): string[] {
  return others
    .filter((other) => best && compareCandidates(best, other) === 0)
    .map(({ bundle }) => bundle.name);
}

export interface Query {
  readonly extension: Extension;
  readonly constraint: VersionConstraint | undefined;
  readonly installed: (Installed & { readonly versionRelease: VersionRelease }) | undefined;
}

/** The parsed specification, or why OLM v1 cannot read it. */
export function readQuery(extension: Extension): Query | Fails {
  const { version, installed } = extension;
  try {
    const constraint = version === '' ? undefined : parseVersionConstraint(version);
    // Under SelfCertified OLM v1 does not ask what is installed: any version may follow.
    if (!installed || extension.policy === 'SelfCertified')
      return { extension, constraint, installed: undefined };
    const versionRelease = parseStored(installed.version, installed.release);
    if (!versionRelease)
      return failsWith('bad-version', `the installed version ${installed.version} is not valid`);
    const { name } = installed;
    return { extension, constraint, installed: { name, version: versionRelease.version, versionRelease } };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return failsWith(
      'bad-version',
      `desired version range ${JSON.stringify(version)} is invalid: ${error.message}`,
    );
  }
}

function failsWith(code: Reason['code'], text: string): Fails {
  return { kind: 'fails', reason: { code, text } };
}

/** A bundle that OLM v1 may take. */
export interface Candidate {
  readonly bundle: Bundle;
  /** Undefined for a bundle without a version, or with a release that is not valid. */
  readonly versionRelease: VersionRelease | undefined;
  readonly deprecated: boolean;
  /** What leads there, as in an {@link Upgrade}. */
  readonly edge: EdgeField | 'version' | 'none';
}

/** Bundles of one package that the query leaves, the best first. */
function candidates(ofPackage: Package, { extension, constraint, installed }: Query): Candidate[] {
  const { channels, releases = false } = extension;
  const chosen = [...ofPackage.channels.values()].filter(
    ({ name }) => channels.length === 0 || channels.includes(name),
  );
  const listed = new Set(chosen.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const successors = installed && successorsOf(installed, chosen);
  return [...ofPackage.bundles.values()]
    .filter(({ name }) => channels.length === 0 || listed.has(name))
    .flatMap((bundle) => {
      const versionRelease = versionReleaseOf(bundle, releases);
      if (constraint && !(versionRelease && meets(versionRelease.version, constraint))) return [];
      const edge = installed ? edgeTo(bundle, versionRelease, { installed, successors }) : 'none';
      const deprecated = ofPackage.deprecatedBundles.has(bundle.name);
      return edge ? [{ bundle, versionRelease, deprecated, edge }] : [];
    })
    .sort(compareCandidates);
}

/** Names of the bundles that may follow the installed one, with the field that allows each. */
function successorsOf(installed: Installed, channels: readonly Channel[]): Map<string, EdgeField> {
  const successors = new Map<string, EdgeField>();
  for (const { entries } of channels) {
    for (const entry of entries) {
      const field = edgeField(entry, installed);
      if (field && !successors.has(entry.name)) successors.set(entry.name, field);
    }
  }
  return successors;
}

/** Why OLM v1 may install a bundle over another one; it also accepts the version that is installed. */
function edgeTo(
  { name }: Bundle,
  versionRelease: VersionRelease | undefined,
  from: {
    readonly installed: NonNullable<Query['installed']>;
    readonly successors: ReadonlyMap<string, EdgeField> | undefined;
  },
): Candidate['edge'] | undefined {
  const field = from.successors?.get(name);
  if (field) return field;
  const same = versionRelease && compareVersionReleases(versionRelease, from.installed.versionRelease) === 0;
  return same ? 'version' : undefined;
}

/** Bundles that are not deprecated come first, then the higher version, then the higher release. */
export function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.deprecated !== b.deprecated) return a.deprecated ? 1 : -1;
  if (!a.versionRelease || !b.versionRelease) return Number(!a.versionRelease) - Number(!b.versionRelease);
  return compareVersionReleases(b.versionRelease, a.versionRelease);
}

/** The candidates of one catalog. */
export interface CatalogCandidates<C extends Pick<Candidate, 'bundle' | 'deprecated'> = Candidate> {
  readonly source: ScopeCatalog;
  readonly best: Candidate | undefined;
  /** All candidates, including the best. */
  readonly all: () => readonly C[];
}

/**
 * Chooses among what the selected catalogs offer.
 *
 * @returns what becomes of the extension, and the catalog whose best was looked at, if there is one
 */
export function chooseCandidate<O extends CatalogCandidates<Pick<Candidate, 'bundle' | 'deprecated'>>>(
  selected: readonly ScopeCatalog[],
  lists: readonly O[],
  extension: Extension,
): { outcome: PlacedOutcome; taken?: O } {
  const unserved = selected.find(({ serving }) => !serving);
  if (unserved) {
    const catalog = JSON.stringify(unserved.name);
    const text = `error walking catalogs: error getting package ${JSON.stringify(extension.package)} from catalog ${catalog}: cache for catalog ${catalog} not found`;
    return { outcome: failsWith('not-serving', text) };
  }
  const rivals = rivalsOf(lists);
  const [first, second] = rivals;
  if (!first?.best) return { outcome: failsWith('no-bundle', noChoiceText(extension, [])) };
  if (second && second.source.priority === first.source.priority) {
    const text = noChoiceText(extension, rivals.map(({ source }) => source.name).sort(compareText));
    return { outcome: failsWith('ambiguous', text) };
  }
  const { name, catalog } = first.source;
  const isHead = (one: string): boolean =>
    headNames(catalog.packages.get(extension.package), extension.channels).has(one);
  const { bundle } = first.best;
  const absent = (): Entry | undefined =>
    absentFollower(catalog.packages.get(extension.package), extension.channels, installedOf(bundle));
  return {
    outcome: placedIn(
      name,
      outcomeOf(first.best, {
        installed: extension.installed?.name,
        why: (best) =>
          outsideRange(catalog.packages.get(extension.package), extension, bundle) ??
          stayReason(best, { all: first.all, isHead, absent }),
      }),
    ),
    taken: first,
  };
}

function headNames(ofPackage: Package | undefined, channels: readonly string[]): Set<string> {
  const chosen = ofPackage ? selectedIn(ofPackage, channels) : [];
  return new Set(chosen.flatMap(headsOf).map(({ name }) => name));
}

/** Catalogs that have something: only those whose best is not deprecated if there are any, by priority. */
function rivalsOf<O extends Pick<CatalogCandidates, 'source' | 'best'>>(lists: readonly O[]): O[] {
  const filled = lists.filter(({ best }) => best !== undefined);
  const sound = filled.filter(({ best }) => best?.deprecated === false);
  return [...(sound.length > 0 ? sound : filled)].sort((a, b) => b.source.priority - a.source.priority);
}

/** Properties for dependencies; OLM v1 installs no bundle that has one. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'olm.package.required',
  'olm.gvk.required',
  'olm.constraint',
]);

/** The first property of a bundle that OLM v1 refuses, if any. */
export function unsupportedProperty(bundle: Bundle): string | undefined {
  return bundle.properties.find(({ type }) => UNSUPPORTED.has(type))?.type;
}

/** The outcome for an installation, given the best candidate. */
export function outcomeOf(
  best: Candidate,
  from: {
    /** The name of what is installed. */
    readonly installed: string | undefined;
    readonly why: (best: Candidate) => Reason;
  },
): Outcome {
  const { bundle } = best;
  const unsupported = unsupportedProperty(bundle);
  if (unsupported) {
    const text = `validating bundle ${JSON.stringify(bundle.name)}: bundle ${JSON.stringify(bundle.name)} has a dependency declared via property ${JSON.stringify(unsupported)} which is currently not supported`;
    return { kind: 'fails', reason: { code: 'dependency', text, bundle: bundle.name } };
  }
  if (bundle.name === from.installed) return staysBecause(() => from.why(best));
  const to = { name: bundle.name, version: bundle.version, channel: '' };
  return { kind: 'upgrade', to, edge: best.edge };
}

/** Why nothing follows where the entry that does is one without a bundle. */
export function withoutBundle({ name }: Entry): Reason {
  return { code: 'successor-missing', text: `the entry that follows it, ${name}, has no bundle` };
}

/** An entry that follows an installation, and whose bundle is not in the package. */
export function absentFollower(
  ofPackage: Package | undefined,
  channels: readonly string[],
  installed: Installed | undefined,
): Entry | undefined {
  if (!ofPackage || !installed) return undefined;
  const known = absentFinders.get(ofPackage) ?? new Map<string, (from: Installed) => Entry | undefined>();
  absentFinders.set(ofPackage, known);
  const key = JSON.stringify(channels);
  const find = known.get(key) ?? firstAbsent(ofPackage, channels);
  known.set(key, find);
  return find(installed);
}

const absentFinders = new WeakMap<Package, Map<string, (from: Installed) => Entry | undefined>>();

/** Finds the first entry in the channels that follows an installed bundle, and has no bundle itself. */
function firstAbsent(
  ofPackage: Package,
  channels: readonly string[],
): (from: Installed) => Entry | undefined {
  const entries = selectedIn(ofPackage, channels)
    .flatMap((channel) => channel.entries)
    .filter(({ name }) => !ofPackage.bundles.has(name));
  const first = firstFollower(entries);
  return (from) => entries[first(from)];
}

/** The reason that only the range keeps an extension from a later bundle; undefined if there is another reason. */
function outsideRange(
  ofPackage: Package | undefined,
  { version, channels }: Extension,
  bundle: Bundle,
): Reason | undefined {
  if (!ofPackage || version === '') return undefined;
  const constraint = parseVersionConstraint(version);
  const from = installedOf(bundle);
  const following = selectedIn(ofPackage, channels)
    .flatMap(({ entries }) => entries)
    .filter((entry) => entry.name !== bundle.name && edgeField(entry, from) !== undefined)
    .flatMap(({ name }) => ofPackage.bundles.get(name)?.version ?? []);
  // The nearest one says best how far the range must reach.
  const [next] = following.sort(compareVersions);
  if (!next || following.some((one) => meets(one, constraint))) return undefined;
  return {
    code: 'outside-range',
    text: `the next version, ${formatVersion(next)}, is outside the version range ${version}`,
  };
}

/**
 * Why an installation is kept.
 *
 * @param best the bundle that is installed, which no other one beats
 */
export function stayReason(
  best: Pick<Candidate, 'bundle' | 'deprecated'>,
  {
    all,
    isHead,
    absent,
  }: {
    /** Every bundle that could be taken. */
    readonly all: () => readonly Pick<Candidate, 'bundle' | 'deprecated'>[];
    readonly isHead: (name: string) => boolean;
    /** An entry that follows it without a bundle. */
    readonly absent: () => Entry | undefined;
  },
): Reason {
  const others = all().filter(({ bundle }) => bundle.name !== best.bundle.name);
  if (others.length === 0) {
    const follower = absent();
    if (follower) return withoutBundle(follower);
    return isHead(best.bundle.name)
      ? { code: 'newest', text: 'it is the head of a channel' }
      : { code: 'no-edge', text: 'it has no successor' };
  }
  const names = others.map(({ bundle }) => bundle.name);
  const shown = names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '');
  return others.every(({ deprecated }) => deprecated && !best.deprecated)
    ? { code: 'successor-deprecated', text: `all successors are deprecated: ${shown}` }
    : { code: 'successor-lower', text: `all successors have a lower version: ${shown}` };
}

/** OLM's message if no catalog has a bundle for the extension, or if several have one. */
export function noChoiceText(
  {
    installed,
    package: packageName,
    version,
    channels,
  }: Pick<Extension, 'installed' | 'package' | 'version' | 'channels'>,
  catalogs: readonly string[],
): string {
  const words = [
    ...(installed
      ? [`error upgrading from currently installed version ${JSON.stringify(installed.version)}:`]
      : []),
    `${catalogs.length > 1 ? 'found bundles' : 'no bundles found'} for package ${JSON.stringify(packageName)}`,
    ...(version === '' ? [] : [`matching version ${JSON.stringify(version)}`]),
    ...(channels.length === 0 ? [] : [`in channels [${channels.join(' ')}]`]),
    ...(catalogs.length > 1 ? [`in multiple catalogs with the same priority [${catalogs.join(' ')}]`] : []),
  ];
  return words.join(' ');
}
