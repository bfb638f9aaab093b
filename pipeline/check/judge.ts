/**
 * All rules over the catalogs that a pull request touches. What was there before is
 * told apart from what the pull request brings.
 */
import { diffOf } from '../../catalog/diff.ts';
import type { Finding } from '../../catalog/finding.ts';
import { tryParseMinor } from '../../catalog/graph/openshift.ts';
import {
  type Change,
  changeOf,
  type DefinitionsOf,
  type PublishedBundle,
  type World,
  type WorldOptions,
  worldOf,
} from '../../catalog/graph/world.ts';
import { catalogOf } from '../../catalog/model.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { knownFrom } from '../../catalog/rules/known.ts';
import {
  runComparison,
  runForesight,
  runRules,
  type SeverityOf,
  withSeverities,
} from '../../catalog/rules/rule.ts';
import type { Policy } from '../policy/policy.ts';
import { inChannel, severitiesOf } from '../policy/severity.ts';
import type { PlacedDiff } from '../report/report.ts';
import type { CatalogState, TouchedCatalog } from './catalogs.ts';
import type { Sides } from './definitions.ts';
import type { Published } from './published.ts';

export interface Judgement {
  /** What the pull request brings, or what makes a catalog invalid. */
  readonly findings: readonly Finding[];
  /** What foresight finds in the base branch as well. */
  readonly known: readonly Finding[];
  readonly diffs: readonly PlacedDiff[];
}

/** For when is judged, and with what knowledge of the past. */
export interface Time {
  /** The day for which is judged, `YYYY-MM-DD`. */
  readonly today: string;
  /** What was ever published, where that is known. */
  readonly published?: Published;
  /** Catalogs of which clusters may have nothing but that. */
  readonly released?: ReadonlySet<string>;
  /** Definitions of bundles whose manifests the catalogs do not hold, in each state. */
  readonly definitions?: Sides;
}

/** Rules whose news is what they see in the change. */
const BY_COMPARISON = new Set(
  RULES.flatMap(({ id, comparisonTellsNews }) => (comparisonTellsNews ? [id] : [])),
);

/** Judges one group of catalogs that change alike. */
export async function judgeCatalog(touched: TouchedCatalog, policy: Policy, time: Time): Promise<Judgement> {
  const severityOf = severitiesOf(policy);
  const change = await changeIn(touched, policy, time);
  const valid = touched.after ? validity(touched.after, severityOf) : [];
  const foreseen = touched.after ? runForesight(change.after, RULES, severityOf) : [];
  const isKnown = knownFrom(touched.before ? runForesight(change.before, RULES, severityOf) : []);
  const compared = runComparison(change, RULES, severityOf);
  const said = new Set(compared.map(cause));
  const isTold = (finding: Finding): boolean =>
    said.has(cause(finding)) || (finding.package !== undefined && BY_COMPARISON.has(finding.rule));
  const isNews = (finding: Finding): boolean => !isKnown(finding) && !isTold(finding);
  const inCatalogs = (finding: Finding): Finding => ({
    ...inChannel(policy, finding),
    catalogs: touched.names,
  });
  return {
    findings: [...valid, ...foreseen.filter(isNews), ...compared].map(inCatalogs),
    known: foreseen.filter((finding) => !isNews(finding) && !said.has(cause(finding))).map(inCatalogs),
    diffs: placedDiffs(change, touched.names),
  };
}

/** The change of a group of catalogs, with what surrounds them. */
export async function changeIn(touched: TouchedCatalog, policy: Policy, time: Time): Promise<Change> {
  const on = (side: keyof Sides): Promise<WorldOptions> | undefined => {
    const state = touched[side];
    return state && optionsOf(touched, state, { policy, time, definitions: time.definitions?.[side] });
  };
  const [before, after] = await Promise.all([on('before'), on('after')]);
  return changeOf(before, after, (bundle) => time.definitions?.before(bundle) !== undefined);
}

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

interface Scene {
  readonly policy: Policy;
  readonly time: Time;
  readonly definitions: DefinitionsOf | undefined;
}

async function optionsOf(
  touched: TouchedCatalog,
  state: CatalogState,
  { policy: { graph }, time, definitions }: Scene,
): Promise<WorldOptions> {
  const [name = ''] = touched.names;
  const following = await Promise.all(
    touched.following.map((next): Promise<World> => {
      const platform = tryParseMinor(next.name);
      return worldOf({
        name: next.name,
        catalog: catalogOf(next.state.blobs),
        olm: graph.olm,
        ...(platform ? { platform } : {}),
      });
    }),
  );
  const platform = tryParseMinor(name);
  return {
    name,
    catalog: catalogOf(state.blobs),
    packages: touched.packages,
    olm: graph.olm,
    asOf: time.today,
    following,
    published: publishedIn(touched, time.published),
    ...(touched.names.every((one) => time.released?.has(one)) ? { publishedIsAll: true } : {}),
    ...(definitions ? { definitions } : {}),
    ...(platform ? { platform } : {}),
  };
}

/** What a finding is due to: the comparison says of a change what a rule about the catalog says as well. */
function cause({ package: of, channel, installed, location, hint }: Finding): string {
  return JSON.stringify([of, channel, installed, location, hint]);
}

/** What was ever published of the touched packages in any of the catalogs, which change alike. */
function publishedIn(
  { names, packages }: TouchedCatalog,
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
