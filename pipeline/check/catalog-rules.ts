/**
 * All rules over the catalogs that a pull request touches. What was there before is
 * told apart from what the pull request brings.
 */

import { type Blobs, type Bundle, type Catalog, catalogOf } from '../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import type { Finding, Location } from '../../catalog/finding.ts';
import { diffOf } from '../../catalog/olm/diff.ts';
import {
  type Change,
  changeOf,
  type PublishedBundle,
  type World,
  type WorldOptions,
  worldOf,
} from '../../catalog/olm/foresight/world.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import { knownFrom } from '../../catalog/rules/earlier-findings.ts';
import { RULES } from '../../catalog/rules/index.ts';
import {
  runComparison,
  runForesight,
  runRules,
  type SeverityOf,
  withSeverities,
} from '../../catalog/rules/rule.ts';
import type { Policy } from '../policy/policy.ts';
import { inChannel, severitiesOf } from '../policy/severity.ts';
import type { Sides } from './bundle-manifests.ts';
import type { CatalogState, Member, TouchedCatalog } from './catalogs.ts';
import type { Companions } from './companions.ts';
import { joinedCatalog } from './context.ts';
import type { Published } from './published.ts';
import type { PlacedDiff } from './report.ts';

export interface CatalogResult {
  /** What the pull request brings, or what makes a catalog invalid. */
  readonly findings: readonly Finding[];
  /** What foresight finds in the base branch as well. */
  readonly known: readonly Finding[];
  readonly diffs: readonly PlacedDiff[];
  /** Errors that an advisory made warnings: who must approve is decided as if they were errors. */
  readonly accepted?: readonly Finding[];
  /** What changes in each of the catalogs, where a fleet goes through it. */
  readonly changes?: readonly Change[];
}

/** The day of the check, and what is known of the past. */
export interface Time {
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** Other catalogs of the same clusters, by catalog. */
  readonly companions?: Companions['of'];
  /** What was ever published, where that is known. */
  readonly published?: Published;
  /** Catalogs of which clusters may have nothing but that. */
  readonly released?: ReadonlySet<string>;
  /** CRDs of bundles whose manifests the catalogs do not hold, in each state. */
  readonly lookups?: Sides;
  /** What the base's tags are known to stand for. */
  readonly digests?: TagDigests;
  /** Whether the changes are kept for a fleet. */
  readonly keepsChanges?: boolean;
}

/** Rules whose news is what they see in the change. */
const BY_COMPARISON = new Set(
  RULES.flatMap(({ id, comparisonTellsNews }) => (comparisonTellsNews ? [id] : [])),
);

/** Checks catalogs that change alike, each for its own platform. What is found alike in several is one finding. */
export async function checkCatalog(
  touched: TouchedCatalog,
  policy: Policy,
  time: Time,
): Promise<CatalogResult> {
  const severityOf = severitiesOf(policy);
  const valid = touched.after ? validity(touched.after, severityOf) : [];
  const findings: Finding[][] = [valid.map((finding) => ({ ...finding, catalogs: touched.names }))];
  const known: Finding[][] = [];
  const changes = await changesIn(touched, policy, time);
  for (const { member, change } of changes) {
    const of = foreseenIn(touched, change, severityOf);
    const placed = (finding: Finding): Finding => ({ ...finding, catalogs: [member.name] });
    findings.push(of.findings.map(placed));
    known.push(of.known.map(placed));
  }
  const inCatalogs = (all: readonly Finding[][]): Finding[] =>
    joinedCatalogs(touched, all.flat()).map((finding) => inChannel(policy, finding));
  return {
    findings: inCatalogs(findings),
    known: inCatalogs(known),
    diffs: diffsOf(changes, time),
    ...(time.keepsChanges ? { changes: changes.map(({ change }) => change) } : {}),
  };
}

interface MemberChange {
  readonly member: Member;
  readonly change: Change;
}

/** What changes in catalogs that change alike: the same in each, unless what surrounds them tells them apart. */
function diffsOf(changes: readonly MemberChange[], { companions, released }: Time): PlacedDiff[] {
  const [first] = changes;
  const isSame = (companions?.size ?? 0) === 0 && (released?.size ?? 0) === 0;
  const names = changes.map(({ member }) => member.name);
  if (first && isSame) return placedDiffs(first.change, names);
  return joinedDiffs(changes.flatMap(({ member, change }) => placedDiffs(change, [member.name])));
}

/** What foresight finds in one catalog: news, and what was there before. */
function foreseenIn(
  { before, after }: TouchedCatalog,
  change: Change,
  severityOf: SeverityOf,
): Pick<CatalogResult, 'findings' | 'known'> {
  // What the change does is told first: where a fix would serve both, it is that of the change.
  const compared = runComparison(change, RULES, severityOf);
  const foreseen = after ? runForesight(change.after, RULES, severityOf) : [];
  const isKnown = knownFrom(before ? runForesight(change.before, RULES, severityOf) : []);
  const said = new Set(compared.map(cause));
  const isTold = (finding: Finding): boolean =>
    said.has(cause(finding)) || (finding.package !== undefined && BY_COMPARISON.has(finding.rule));
  const isNews = (finding: Finding): boolean => !isKnown(finding) && !isTold(finding);
  return {
    findings: [...foreseen.filter(isNews), ...compared],
    known: foreseen.filter((finding) => !isNews(finding) && !said.has(cause(finding))),
  };
}

/** Findings that are equal but for their catalogs, joined at their place in the first of these. */
function joinedCatalogs({ members }: TouchedCatalog, findings: readonly Finding[]): Finding[] {
  const joined = new Map<string, Finding>();
  for (const finding of findings) {
    const { catalogs = [], ...said } = finding;
    const key = JSON.stringify(said);
    const known = joined.get(key);
    joined.set(key, known ? { ...known, catalogs: [...(known.catalogs ?? []), ...catalogs] } : finding);
  }
  return [...joined.values()].map((finding) => {
    const first = members.find(({ name }) => name === finding.catalogs?.[0]);
    return first ? placedIn(finding, first) : finding;
  });
}

/** A finding at its place in another of the catalogs that change alike. */
function placedIn({ location, correction, ...finding }: Finding, { ownPath }: Member): Finding {
  const own = (place: Location): Location => ({ ...place, file: ownPath(place.file) });
  const corrected = correction && { correction: { ...correction, location: own(correction.location) } };
  return { ...finding, location: own(location), ...corrected };
}

/** The changes of catalogs that change alike, with what surrounds each of them. */
export async function changesIn(
  touched: TouchedCatalog,
  policy: Policy,
  time: Time,
): Promise<MemberChange[]> {
  const names = touched.names.filter((name) => !time.released?.has(name));
  const published = publishedIn(names, touched.packages, time.published);
  const shared: Shared = { policy, time, published, worlds: new Map() };
  const wasDefined = (bundle: Bundle): boolean => time.lookups?.before.crds(bundle) !== undefined;
  const sides = { before: sideOf(touched, 'before', time), after: sideOf(touched, 'after', time) };
  return Promise.all(
    touched.members.map(async (member) => {
      const [before, after] = await Promise.all([
        optionsOf(member, 'before', { ...shared, side: sides.before }),
        optionsOf(member, 'after', { ...shared, side: sides.after }),
      ]);
      return { member, change: await changeOf(before, after, wasDefined) };
    }),
  );
}

/** One state of the packages that several catalogs share. */
type Side = Pick<WorldOptions, 'catalog' | 'crds' | 'manifests'> & {
  readonly packages: ReadonlySet<string>;
};

function sideOf({ packages, ...states }: TouchedCatalog, side: keyof Sides, time: Time): Side {
  const { blobs = NO_BLOBS } = states[side] ?? {};
  return { catalog: catalogOf(blobs), packages, ...time.lookups?.[side] };
}

const NO_BLOBS: Blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };

/** What changes in the packages of a change, with the catalogs that change so. */
export function placedDiffs(change: Change, catalogs: readonly string[]): PlacedDiff[] {
  return diffOf(change).packages.map((packageDiff) => ({ ...packageDiff, catalogs }));
}

/** Changes that are the same in several groups of catalogs are one, at the place of the first. */
export function joinedDiffs(diffs: readonly PlacedDiff[]): PlacedDiff[] {
  const alike = new Map<string, PlacedDiff>();
  for (const diff of diffs) {
    const key = JSON.stringify({ ...diff, catalogs: [] });
    const known = alike.get(key);
    alike.set(key, known ? { ...known, catalogs: [...known.catalogs, ...diff.catalogs] } : diff);
  }
  return [...alike.values()];
}

/** What makes the catalog as it would be merged invalid, as opm sees it and beyond. */
function validity({ blobs, unread }: CatalogState, severityOf: SeverityOf): Finding[] {
  return [...withSeverities(unread, RULES, severityOf), ...runRules(catalogOf(blobs), RULES, severityOf)];
}

/** What catalogs that change alike have in common. */
interface Shared {
  readonly policy: Policy;
  readonly time: Time;
  readonly published: Map<string, PublishedBundle[]>;
  /** Catalogs that follow any of them, by name, made once. */
  readonly worlds: Map<string, Map<Catalog, Promise<World>>>;
}

async function optionsOf(
  { name, following, context }: Member,
  when: keyof Sides,
  shared: Shared & { readonly side: Side },
): Promise<WorldOptions> {
  const { policy, time, published, side } = shared;
  const platform = minorOfCatalog(name);
  const companions = time.companions?.get(name)?.[when];
  return {
    ...side,
    ...(companions ? { companions } : {}),
    catalog: joinedCatalog([side.catalog, context[when]]),
    name,
    ...(time.digests ? { digests: time.digests } : {}),
    olm: policy.graph.olm,
    asOf: time.today,
    following: await Promise.all(following.map((next) => followingWorld(next.name, next[when], shared))),
    ...(time.released?.has(name)
      ? { published: publishedIn([name], side.packages, time.published), publishedIsAll: true }
      : { published }),
    ...(platform ? { platform } : {}),
  };
}

function followingWorld(name: string, catalog: Catalog, { policy, worlds }: Shared): Promise<World> {
  const platform = minorOfCatalog(name);
  const { olm } = policy.graph;
  // Equal content in several catalogs is one object: each of them is a world of its own.
  const ofName = worlds.get(name) ?? new Map<Catalog, Promise<World>>();
  worlds.set(name, ofName);
  const made = ofName.get(catalog) ?? worldOf({ name, catalog, olm, ...(platform ? { platform } : {}) });
  ofName.set(catalog, made);
  return made;
}

/** What a finding is due to: the comparison says of a change what a rule about the catalog says as well. */
function cause({ package: of, channel, installed, location, hint }: Finding): string {
  return JSON.stringify([of, channel, installed, location, hint]);
}

/** What was ever published of packages in any of some catalogs, which change alike. */
function publishedIn(
  names: readonly string[],
  packages: ReadonlySet<string>,
  published: Published = new Map(),
): Map<string, PublishedBundle[]> {
  const ever = new Map<string, PublishedBundle[]>();
  for (const name of packages) {
    const all = names.flatMap((catalog) => published.get(catalog)?.get(name) ?? []);
    const latest = new Map<string, PublishedBundle>();
    for (const bundle of all) {
      const key = JSON.stringify([bundle.channel, bundle.name]);
      const known = latest.get(key);
      if (!known || (known.last ?? '') < (bundle.last ?? '')) latest.set(key, bundle);
    }
    ever.set(name, [...latest.values()]);
  }
  return ever;
}
