/**
 * The question that everybody who runs an operator has: what comes next, and where does
 * it end. Asked of the catalogs of one cluster.
 */

import { headsOf } from '../../../catalog/fbc/channel.ts';
import { edgeField, type Installed, shortName } from '../../../catalog/fbc/edge.ts';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import type { FleetReport } from '../../../catalog/olm/fleet/count.ts';
import {
  bundlesOfVersion,
  type DetailedPath,
  detailedPathV0,
  detailedPathV1,
  namedByEntries,
} from '../../../catalog/olm/foresight/detailed-path.ts';
import { foresightOf } from '../../../catalog/olm/foresight/foresight.ts';
import { compareInstalled } from '../../../catalog/olm/foresight/installation.ts';
import { hindrancesOf } from '../../../catalog/olm/foresight/neighbors.ts';
import { celFor, MOST_EFFORT, type Olm } from '../../../catalog/olm/foresight/world.ts';
import { type MissingRequirement, missingRequirements } from '../../../catalog/olm/install-set.ts';
import type { Place } from '../../../catalog/olm/resolve/next-v0.ts';
import type { Scope, ScopeCatalog } from '../../../catalog/olm/resolve/snapshot.ts';
import { isLoadedByV1, isServed } from '../../../catalog/rules/serve-refusals.ts';
import { formatVersion, tryParseVersion } from '../../../catalog/version/version.ts';
import type { ReadCatalog } from '../../catalogs/read-catalogs.ts';
import { PipelineError } from '../../error.ts';
import { noPackage } from '../no-package.ts';

export interface Question {
  readonly package: string;
  /** Undefined for what a new installation gets. */
  readonly version: string | undefined;
  /** Name of the installed bundle, where it is known. */
  readonly bundle: string | undefined;
  /** Under OLM v0 one at most; if there is none, the default channel under v0, and all channels under v1. */
  readonly channels: readonly string[];
  readonly olm: readonly Olm[];
  /** What a ClusterExtension asks for, or empty. */
  readonly range: string;
  /** The catalog that is subscribed to; undefined where only one has the package. */
  readonly catalog: string | undefined;
  /** Priorities of catalogs by name, as their CatalogSource or ClusterCatalog has them; 0 for the others. */
  readonly priorities?: ReadonlyMap<string, number>;
}

/** As JSON a public interface. */
export interface Answer {
  readonly package: string;
  /** Absent for a new installation. */
  readonly installed?: { readonly name: string; readonly version?: string };
  /** Whether no catalog has the bundle any more. */
  readonly assumed: boolean;
  readonly paths: readonly AnsweredPath[];
  /** The former name of `paths`: programs may read it. */
  readonly roads: readonly AnsweredPath[];
  /** What becomes of the clusters of a fleet that have the package, where that was asked. */
  readonly fleet?: FleetReport;
}

export interface AnsweredPath {
  readonly olm: Olm;
  /** The channel, or the channels, and the catalog, in words. */
  readonly where: string;
  readonly channels: readonly string[];
  readonly steps: readonly Step[];
  /** Whether it ends at a head. */
  readonly arrives: boolean;
  readonly end: DetailedPath['last']['kind'];
  /** Why it goes no further. */
  readonly last: string;
  /** What the next bundle needs under OLM v0 and none of the catalogs has; absent where nothing is missing. */
  readonly missing?: readonly MissingRequirement[];
  /** What keeps it from upgrades under OLM v0 where it is installed in the same namespace; absent where nothing does. */
  readonly unless?: readonly Exception[];
}

/** Another operator with which an upgrade path ends earlier. */
interface Exception {
  readonly package: string;
  readonly channel: string;
  /** Its versions, the lowest first. */
  readonly installed: readonly string[];
  /** Where the upgrade path ends then. */
  readonly end: string;
  /** Name of the package or bundle that asks for something. */
  readonly bundle: string;
  /** In the resolver's words, such as `with package: bar and with version in range: >=1.0.0`. */
  readonly requires: string;
}

interface Step {
  readonly name: string;
  readonly version?: string;
  /** Name of the catalog that has it. */
  readonly catalog: string;
  /** What leads there: `replaces`, `skips`, `skipRange`, `version` or `none`. */
  readonly edge: string;
  readonly deprecated: boolean;
}

/**
 * Answers a question.
 *
 * @throws PipelineError `usage` when the question cannot be understood
 */
export async function answerQuestion(catalogs: readonly ReadCatalog[], question: Question): Promise<Answer> {
  const scope = await scopeOf(catalogs, question);
  const scopeV1 = { ...scope, catalogs: loadedByV1(scope, catalogs, question) };
  const source = sourceOf(scope, question);
  const installed = installedOf(source, question);
  const { bundle, assumed } = installed;
  const paths = question.olm.map((olm) =>
    olm === 'v0' ? answerV0(scope, source, { question, bundle }) : answerV1(scopeV1, { question, bundle }),
  );
  return {
    package: question.package,
    ...(bundle ? { installed: named(bundle) } : {}),
    assumed,
    paths,
    roads: paths,
  };
}

/** What a cluster with these catalogs can see, and nothing else: what they lack is missing. */
async function scopeOf(
  catalogs: readonly ReadCatalog[],
  { priorities = new Map() }: Question,
): Promise<Scope> {
  const names = catalogs.map(({ name }) => name);
  const unknown = [...priorities.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new PipelineError('usage', `unknown catalog ${JSON.stringify(unknown)}`, {
      hint: `use --priority NAME=NUMBER, where NAME is ${names.join(' or ')}`,
    });
  }
  const all = catalogs.map(({ name, catalog, unread }): ScopeCatalog => {
    const serving = isServed(catalog, unread);
    // The global namespace of OLM v0: its catalogs serve the Subscriptions of all namespaces.
    return { name, namespace: 'olm', priority: priorities.get(name) ?? 0, catalog, serving };
  });
  return { catalogs: all, cel: await celFor(all), effort: { left: MOST_EFFORT } };
}

/** The catalogs as OLM v1 sees them: it never builds opm's model, so other packages make no difference. */
function loadedByV1(
  { catalogs }: Scope,
  read: readonly ReadCatalog[],
  { package: name }: Question,
): ScopeCatalog[] {
  return catalogs.map((one, i) => ({ ...one, serving: isLoadedByV1(read[i]?.unread ?? [], name) }));
}

/** The catalog that a question is about. @throws PipelineError `usage` if several have the package, and none is named */
function sourceOf({ catalogs }: Scope, question: Question): ScopeCatalog {
  const { package: name, catalog } = question;
  const having = catalogs.filter((one) => one.catalog.packages.has(name));
  const [first, ...others] = having;
  if (!first)
    throw noPackage(
      name,
      catalogs.map((one) => one.catalog),
    );
  if (catalog === undefined) {
    // A Subscription of OLM v0 names one catalog; OLM v1 chooses among all of them.
    if (others.length === 0 || !question.olm.includes('v0')) return first;
    throw new PipelineError('usage', `several catalogs have the package ${JSON.stringify(name)}`, {
      hint: `select one: --catalog ${having.map((one) => one.name).join('|')}`,
    });
  }
  const chosen = catalogs.find((one) => one.name === catalog);
  if (chosen) return chosen;
  throw new PipelineError('usage', `catalog ${JSON.stringify(catalog)} not found`, {
    hint: `--catalog ${catalogs.map((one) => one.name).join('|')}`,
  });
}

/**
 * The bundle that is installed; `assumed` if no catalog has it.
 *
 * @throws PipelineError `usage` if several bundles have the version
 */
function installedOf(
  source: ScopeCatalog,
  { package: name, version, bundle, channels }: Question,
): { bundle: Installed | undefined; assumed: boolean } {
  if (version === undefined && bundle === undefined) return { bundle: undefined, assumed: false };
  const own = bundle === undefined ? undefined : source.catalog.packages.get(name)?.bundles.get(bundle);
  const parsed = version === undefined ? own?.version : tryParseVersion(version);
  if (version !== undefined && !parsed) {
    throw new PipelineError('usage', `${JSON.stringify(version)} is not a valid version`, {
      hint: 'for example 1.2.3',
    });
  }
  // Who names a bundle means that one, with the version that was given with it.
  if (bundle !== undefined) return { bundle: { name: bundle, version: parsed }, assumed: own === undefined };
  const found = bundlesOfVersion(source, name, version ?? '');
  // Bundles that no such channel lists count only where there are no others.
  const listed = found.filter((one) => isListed(source, name, { name: one.name, channels }));
  const [only, ...more] = listed.length > 0 ? listed : found;
  if (!only)
    return { bundle: { name: absentName(source, name, version ?? ''), version: parsed }, assumed: true };
  if (more.length === 0) return { bundle: only, assumed: false };
  throw new PipelineError('usage', `several bundles have the version ${version}`, {
    hint: `select one: --name ${[only, ...more].map((one) => one.name).join('|')}`,
  });
}

/** Whether one of the named channels has an entry of this name; of all channels where none is named. */
function isListed(
  { catalog }: ScopeCatalog,
  ofPackage: string,
  { name, channels }: { name: string; channels: readonly string[] },
): boolean {
  const all = [...(catalog.packages.get(ofPackage)?.channels.values() ?? [])];
  return all
    .filter((channel) => channels.length === 0 || channels.includes(channel.name))
    .some(({ entries }) => entries.some((entry) => entry.name === name));
}

/** What a bundle that is gone was most likely called: what entries call it, else as its siblings. */
function absentName(source: ScopeCatalog, ofPackage: string, version: string): string {
  // The usual ways to name a bundle, the most common first.
  const ends = [`.v${version}`, `.${version}`, `-v${version}`, `-${version}`];
  const entryNames = [...namedByEntries(source, ofPackage)];
  for (const end of ends) {
    const found = entryNames.find((name) => name.endsWith(end));
    if (found !== undefined) return found;
  }
  // A sibling's name with this version in the place of its own.
  for (const { name, version: own } of source.catalog.packages.get(ofPackage)?.bundles.values() ?? []) {
    const text = own && formatVersion(own);
    if (text !== undefined && name.endsWith(text))
      return `${name.slice(0, name.length - text.length)}${version}`;
  }
  return `${ofPackage}.v${version}`;
}

/** The upgrade path under OLM v0, with requirements that are missing and neighbors that would block it. */
function answerV0(
  scope: Scope,
  source: ScopeCatalog,
  { question, bundle }: { question: Question; bundle: Installed | undefined },
): AnsweredPath {
  const { package: name, channels } = question;
  const [asked, another] = channels;
  if (another !== undefined) {
    throw new PipelineError('usage', 'under OLM v0 a subscription has one channel', {
      hint: 'use one --channel, or --olm v1',
    });
  }
  const ofPackage = source.catalog.packages.get(name);
  const channel = asked ?? ofPackage?.defaultChannel ?? '';
  const path = detailedPathV0(scope, { source, place: { package: name, channel } }, bundle);
  const where = `channel ${channel} of ${source.name}`;
  // Where the path stops, what would come next may require an operator that no catalog has.
  const at = path.steps.at(-1)?.to ?? bundle;
  const missing = path.arrives
    ? []
    : missingRequirements(scope, nextBundles(source, { package: name, channel }, at));
  const unless = bundle ? exceptionsTo(scope, source, { place: { package: name, channel }, bundle }) : [];
  return {
    ...answeredPath(scope, path, { where, channels: [channel], package: name }),
    ...(missing.length > 0 ? { missing } : {}),
    ...(unless.length > 0 ? { unless } : {}),
  };
}

/** The operators beside which an upgrade path ends earlier. */
function exceptionsTo(
  scope: Scope,
  source: ScopeCatalog,
  { place, bundle }: { place: Place; bundle: Installed },
): Exception[] {
  // A catalog that does not answer stops every upgrade, whatever else is installed.
  if (scope.catalogs.some(({ serving }) => !serving)) return [];
  return hindrancesOf(foresightOf(scope, source), place, bundle).map(
    ({ neighbor, installed, from, to, requires, neighborRequires }) => ({
      ...neighbor,
      installed: [...installed].sort(compareInstalled).map(shortName),
      end: shortName(from),
      bundle: neighborRequires ? neighbor.package : to.name,
      requires,
    }),
  );
}

/** The bundles of a channel that may follow an installation; for a new one those at the head. */
function nextBundles(source: ScopeCatalog, place: Place, installed: Installed | undefined): Bundle[] {
  const ofPackage = source.catalog.packages.get(place.package);
  const channel = ofPackage?.channels.get(place.channel);
  if (!ofPackage || !channel) return [];
  const entries = installed
    ? channel.entries.filter((entry) => edgeField(entry, installed) !== undefined)
    : headsOf(channel);
  return entries.flatMap(({ name }) => ofPackage.bundles.get(name) ?? []);
}

/** The upgrade path under OLM v1. */
function answerV1(
  scope: Scope,
  { question, bundle }: { question: Question; bundle: Installed | undefined },
): AnsweredPath {
  const { package: name, channels, range } = question;
  const path = detailedPathV1(scope, { package: name, channels, range }, bundle);
  const from =
    channels.length === 0
      ? 'all channels'
      : `${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(', ')}`;
  const asked = range === '' ? '' : `, version ${range}`;
  const where = `${from} of ${scope.catalogs.map((one) => one.name).join(', ')}${asked}`;
  return answeredPath(scope, path, { where, channels, package: name });
}

/** A path in the form of the answer. */
function answeredPath(
  { catalogs }: Scope,
  { olm, steps, last, arrives }: DetailedPath,
  about: Pick<AnsweredPath, 'where' | 'channels'> & { readonly package: string },
): AnsweredPath {
  const isDeprecated = (catalog: string, bundle: string): boolean =>
    catalogs
      .find(({ name }) => name === catalog)
      ?.catalog.packages.get(about.package)
      ?.deprecatedBundles.has(bundle) ?? false;
  return {
    olm,
    where: about.where,
    channels: about.channels,
    steps: steps.map(({ to, edge }) => ({
      ...named(to),
      catalog: to.catalog,
      edge,
      deprecated: isDeprecated(to.catalog, to.name),
    })),
    arrives,
    end: last.kind,
    last: last.kind === 'circle' ? `the upgrades form a circle at ${endOf(steps)}` : last.reason.text,
  };
}

/** The bundle at which a path ends; empty for one without steps. */
function endOf(steps: DetailedPath['steps']): string {
  const last = steps.at(-1);
  return last ? shortName(last.to) : '';
}

/** A bundle as JSON has it; without a version where that is unknown. */
function named({ name, version }: Installed): { name: string; version?: string } {
  return { name, ...(version ? { version: formatVersion(version) } : {}) };
}
