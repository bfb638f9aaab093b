/** Names of new packages that other public catalogs have already, whether or not those are on the same clusters. */
import { type Blob, locate } from '../../../catalog/fbc/model.ts';
import type { Finding, Location } from '../../../catalog/finding.ts';
import { quoted } from '../../../catalog/names.ts';
import { rule } from '../../../catalog/rules/graph/name-taken.ts';
import type { Trees } from '../../change/classification-input.ts';
import { packagesIn } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import type { Store } from '../../oci/image/build-cache.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { Registry } from '../../ports.ts';
import type { CheckReport } from '../report.ts';
import type { Asked } from '../request.ts';
import type { LoadedCatalogs } from '../world/catalogs.ts';
import { readCompanions } from '../world/companions.ts';
import type { CheckScene } from '../world/scene.ts';

interface TakenNames {
  readonly findings: readonly Finding[];
  readonly unchecked: CheckReport['unchecked'];
  /** Why it is not known whether a name is free. */
  readonly incomplete: string | undefined;
}

interface Pull extends Pick<LoadedCatalogs, 'touched'> {
  readonly scene: CheckScene;
  /** After the release. */
  readonly trees: Trees;
}

/** The data sources for other catalogs. */
interface NameSources extends Asked<'otherCatalogs'> {
  readonly registry: Registry | undefined;
  readonly store: Store | undefined;
}

/** Findings about new packages whose names other catalogs have. Without new packages, nothing is read. */
export async function takenNames(pull: Pull, sources: NameSources): Promise<TakenNames> {
  const { policy } = pull.scene;
  const severity = severitiesOf(policy)(rule);
  const isAsked = policy.graph.otherCatalogs.length + (sources.otherCatalogs?.length ?? 0) > 0;
  const fresh = severity === 'off' || !isAsked ? new Map<string, Newcomer>() : await newPackages(pull);
  if (fresh.size === 0) return { findings: [], unchecked: [], incomplete: undefined };
  const { owners, unchecked, incomplete } = await namesElsewhere(pull, sources, [
    ...new Set([...fresh.values()].flatMap(({ catalogs }) => catalogs)),
  ]);
  const findings = [...fresh].flatMap(([name, { location, catalogs }]): Finding[] => {
    const others = [...owners].flatMap(([other, names]) => (names.has(name) ? [other] : []));
    if (others.length === 0 || severity === 'off') return [];
    const message = `package ${quoted(name)} is new, but ${others.join(' and ')} ${others.length > 1 ? 'have' : 'has'} a package with this name`;
    const hint = 'choose a name that no other catalog has';
    return [
      {
        rule: rule.id,
        severity,
        message,
        location,
        package: name,
        hint,
        ...(catalogs.length > 0 ? { catalogs } : {}),
      },
    ];
  });
  return { findings, unchecked, incomplete };
}

interface Newcomer {
  readonly location: Location;
  /** Names of the catalogs that get it; none where it has bundle directories alone. */
  readonly catalogs: readonly string[];
}

/** Packages that the base branch has nowhere, each with its first place. */
async function newPackages({ scene, trees, touched }: Pull): Promise<Map<string, Newcomer>> {
  const { objects, policy, change } = scene;
  const fresh = new Map<string, Newcomer>();
  const old = new Set(await packagesIn(objects, trees.base, policy.layout));
  for (const { before, members } of touched) {
    for (const { name } of before?.blobs.packages ?? []) old.add(name);
    for (const { context } of members) for (const name of context.before.packages.keys()) old.add(name);
  }
  for (const { after: state, names } of touched) {
    const { packages = [], channels = [], bundles = [] } = state?.blobs ?? {};
    const all: (readonly [string, Blob])[] = [
      ...packages.map((blob) => [blob.name, blob] as const),
      ...[...channels, ...bundles].map((blob) => [blob.package, blob] as const),
    ];
    for (const [name, blob] of all) {
      if (name === '' || old.has(name)) continue;
      const known = fresh.get(name);
      const catalogs = [...new Set([...(known?.catalogs ?? []), ...names])];
      fresh.set(name, { location: known?.location ?? locate(blob), catalogs });
    }
  }
  for (const { name, paths } of change.packages.values()) {
    const [file] = paths;
    if (old.has(name) || fresh.has(name) || file === undefined) continue;
    fresh.set(name, { location: { file, line: 1, column: 1 }, catalogs: [] });
  }
  return fresh;
}

interface Elsewhere extends Omit<TakenNames, 'findings'> {
  /** Names of packages, by what people call the catalogs. */
  readonly owners: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The packages of the other catalogs that the policy and the request name, and which of these could not be read. */
async function namesElsewhere(
  { scene: { objects, policy }, trees }: Pull,
  { registry, store, otherCatalogs }: NameSources,
  catalogs: readonly string[],
): Promise<Elsewhere> {
  const read = await readCompanions({
    objects,
    trees,
    policy,
    catalogs: catalogs.length > 0 ? catalogs : [STAND_IN_CATALOG],
    registry,
    store,
    instead: {
      texts: policy.graph.otherCatalogs,
      what: (text) => `whether ${text} has a package with the name of a new one`,
    },
  });
  const owners = new Map<string, ReadonlySet<string>>();
  for (const { after: others } of read.of.values())
    for (const [text, { packages }] of others)
      owners.set(text, new Set([...(owners.get(text) ?? []), ...packages.keys()]));
  const unchecked = [...read.unchecked];
  let { incomplete } = read;
  for (const other of otherCatalogs ?? []) {
    try {
      owners.set(other.name, await other.packages());
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      const what = `whether ${other.name} has a package with the name of a new one`;
      unchecked.push({ what, why: error.message });
      incomplete ??= `${what}: ${error.message}`;
    }
  }
  return { owners, unchecked, incomplete };
}

/** Stands for the catalog of packages that are in none yet: for no catalog, `readCompanions` reads nothing. */
const STAND_IN_CATALOG = 'catalog';
