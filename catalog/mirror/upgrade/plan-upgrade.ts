/**
 * The least that gets a cluster to a later version of its platform: releases, upgrades of operators, and the smallest part
 * of catalogs with which OLM makes exactly these upgrades.
 */
import type { Cel } from '../../fbc/cel/cel.ts';
import { Lifecycles } from '../../fbc/lifecycle.ts';
import { type Bundle, type Catalog, NO_BLOBS } from '../../fbc/model.ts';
import {
  compareMinors,
  formatMinor,
  limitAllows,
  limitOf,
  type Minor,
  minorOf,
} from '../../fbc/openshift.ts';
import type { ScopeCatalog } from '../../olm/resolve/snapshot.ts';
import { isServed } from '../../rules/serve-refusals.ts';
import { formatVersion } from '../../version/version.ts';
import type { PackageSelection } from '../image-set.ts';
import type { UpdateGraphs } from '../release/update-graph.ts';
import {
  type ClusterOperator,
  type PlatformCatalog,
  UpgradeRefusal,
  type UpgradingCluster,
} from './cluster.ts';
import { type ReleaseStep, releasePath, type UpgradeTarget } from './release-path.ts';
import { type OperatorStep, type PlacedOperator, simulateSwitch } from './simulate.ts';
import {
  choicesAt,
  complaintAt,
  homeOf,
  mayLeaveWith,
  type Stage,
  type StageChoice,
  type StageContext,
  scopeCatalogs,
  selectedOf,
  wholeName,
} from './stage-choice.ts';

export interface UpgradeRequest {
  readonly cluster: UpgradingCluster;
  readonly target: UpgradeTarget;
  readonly catalogs: readonly PlatformCatalog[];
  readonly graphs: UpdateGraphs;
  /** The part of the release channels' names before the version: `stable`. */
  readonly kind: string;
  /** The day, as `2026-01-31`. */
  readonly today: string;
  readonly cel: Cel | undefined;
}

export interface UpgradePlan {
  readonly cluster: UpgradingCluster;
  readonly releases: readonly ReleaseStep[];
  /** Versions of the platform at which catalogs are needed. */
  readonly stages: readonly PlannedStage[];
}

export interface PlannedStage {
  readonly platform: Minor;
  /** What is selected of each catalog. */
  readonly selections: ReadonlyMap<PlatformCatalog, readonly PackageSelection[]>;
  /** Each operator as it is in this stage, before its upgrades. */
  readonly placed: readonly PlacedOperator[];
  /** In the order in which OLM makes them. */
  readonly steps: readonly OperatorStep[];
  /** What is not good about what is installed at the end, by package. */
  readonly drawbacks: ReadonlyMap<string, readonly string[]>;
}

/** Most versions of the platform between the cluster's and the target's: each doubles the ways that {@link fewestFirst} tries. */
const MOST_MINORS = 8;

/** Plans the upgrade of a cluster and its operators to a version of the platform. @throws UpgradeRefusal */
export async function planUpgrade(request: UpgradeRequest): Promise<UpgradePlan> {
  const { cluster, target, graphs, kind } = request;
  const minors = minorsTo(minorOf(cluster.platform), target.minor);
  const releases = await releasePath(cluster.platform, target, { kind, graphs });
  const planner = new Planner(request, minors);
  return { cluster, releases, stages: planner.stages() };
}

/**
 * The versions of the platform from the cluster's to the target's.
 *
 * @throws UpgradeRefusal for a target that is lower, or too far away
 */
function minorsTo(from: Minor, to: Minor): Minor[] {
  const count = to.minor - from.minor;
  if (from.major !== to.major || count < 0 || count > MOST_MINORS)
    throw new UpgradeRefusal(
      `the target ${formatMinor(to)} must be a version from ${formatMinor(from)} to ${formatMinor({ ...from, minor: from.minor + MOST_MINORS })}`,
    );
  return Array.from({ length: count + 1 }, (_, i) => ({ major: from.major, minor: from.minor + i }));
}

class Planner {
  readonly #request: UpgradeRequest;
  readonly #minors: readonly Minor[];
  readonly #context: StageContext;

  constructor(request: UpgradeRequest, minors: readonly Minor[]) {
    this.#request = request;
    this.#minors = minors;
    const known = new WeakMap<Catalog, Lifecycles>();
    const lifecycles = (catalog: Catalog): Lifecycles => {
      const found = known.get(catalog) ?? new Lifecycles(catalog);
      known.set(catalog, found);
      return found;
    };
    this.#context = { cel: request.cel, today: request.today, lifecycles };
  }

  /** The stages of a plan with as few catalogs as possible: versions of the platform at which operators are upgraded. */
  stages(): PlannedStage[] {
    const { operators } = this.#request.cluster;
    if (operators.length === 0) return [];
    this.#checkNamed();
    let refusal: UpgradeRefusal | undefined;
    for (const active of fewestFirst(this.#minors)) {
      try {
        return this.#planned(active);
      } catch (error) {
        if (!(error instanceof UpgradeRefusal)) throw error;
        // The last way has the most catalogs, so its refusal counts; but one for lack of knowledge comes first.
        refusal = refusal?.isUnknown ? refusal : error;
      }
    }
    throw refusal ?? new UpgradeRefusal('there is no version of the platform to plan for');
  }

  /** Refuses catalogs of one version that share a package, and target catalogs that lack one. @throws UpgradeRefusal */
  #checkNamed(): void {
    const last = this.#minors.at(-1);
    const wrong: string[] = [];
    for (const { package: name } of this.#request.cluster.operators) {
      for (const minor of this.#minors) {
        const having = this.#catalogsOf(minor).filter(({ catalog }) => catalog.packages.has(name));
        if (having.length > 1)
          wrong.push(
            `several catalogs for ${formatMinor(minor)} have the package ${name}: ${having.map((one) => one.reference).join(', ')}`,
          );
        if (minor === last && having.length === 0)
          wrong.push(`no catalog for ${formatMinor(minor)} has the package ${name}`);
      }
    }
    if (wrong.length > 0) throw new UpgradeRefusal(wrong.join('\n'));
  }

  #catalogsOf(minor: Minor): PlatformCatalog[] {
    return this.#request.catalogs.filter(({ platform }) => compareMinors(platform, minor) === 0);
  }

  /**
   * Plans all stages.
   *
   * @param active versions of the platform at which operators may be upgraded, the target last
   * @throws UpgradeRefusal
   */
  #planned(active: readonly Minor[]): PlannedStage[] {
    const stages = active.map((platform, i) => this.#stage(platform, active[i + 1]));
    let operators = this.#request.cluster.operators;
    const [first] = this.#minors;
    if (first && active[0] !== first) this.#checkStart(this.#stage(first, active[0]), operators);
    return stages.map((_, i) => {
      const planned = this.#plannedStage(stages.slice(i), operators);
      operators = [...planned.operators];
      return planned.stage;
    });
  }

  /**
   * What an operator must run with while the cluster is at this version: the catalogs there, and the versions of the
   * platform that it passes on the way to the next stage.
   */
  #stage(platform: Minor, following: Minor | undefined): Stage {
    const isBetween = (minor: Minor): boolean =>
      following !== undefined && compareMinors(minor, following) < 0;
    const later = this.#minors.filter((minor) => compareMinors(minor, platform) > 0);
    const passed = later.filter(isBetween);
    const next = following ? [...passed, following] : [];
    // From an even version to the next even one, clusters update their nodes once: no node runs the odd one between.
    const isQuick = platform.minor % 2 === 0 && passed.length === 1;
    return {
      platform,
      next,
      catalogs: this.#catalogsOf(platform),
      mayPass: (packageName, { name }) =>
        isQuick ||
        passed.every((minor) =>
          this.#catalogsOf(minor).some(({ catalog }) => catalog.packages.get(packageName)?.bundles.has(name)),
        ),
    };
  }

  /**
   * Refuses a cluster whose operators keep it from the first version at which something is upgraded.
   *
   * @throws UpgradeRefusal
   */
  #checkStart({ next, mayPass }: Stage, operators: readonly ClusterOperator[]): void {
    for (const { package: packageName, installed } of operators) {
      const bundle = this.#bundle(packageName, installed.name);
      if (!bundle)
        throw new UpgradeRefusal(
          `no catalog has the installed ${installed.name} of package ${packageName}, so its olm.maxOpenShiftVersion is not known`,
          true,
        );
      const refusedMinor = next.find((minor) => !limitAllows(limitOf(bundle.properties), minor));
      if (refusedMinor)
        throw new UpgradeRefusal(
          `${installed.name} keeps the cluster from ${formatMinor(refusedMinor)}, and nothing upgrades it`,
        );
      if (!mayPass(packageName, bundle))
        throw new UpgradeRefusal(
          `${installed.name} is not in the catalogs of each version up to ${textOf(next)}`,
        );
    }
  }

  /** A bundle from the first catalog that has it. */
  #bundle(packageName: string, name: string): Bundle | undefined {
    for (const { catalog } of this.#request.catalogs) {
      const found = catalog.packages.get(packageName)?.bundles.get(name);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * The upgrades of one stage: the best choice for each operator, or the next best ones if the best do not go together.
   *
   * @param stages the stage that is planned, and those that may follow
   * @throws UpgradeRefusal
   */
  #plannedStage(
    stages: readonly Stage[],
    operators: readonly ClusterOperator[],
  ): { stage: PlannedStage; operators: readonly ClusterOperator[] } {
    const [stage] = stages;
    if (!stage) throw new TypeError('internal error: a plan without stages');
    const here = operators.filter(({ package: name }) => homeOf(stage, name));
    const trial = this.#together(stage, this.#bestWays(stages, here));
    const after = new Map(trial.ways.map(({ operator, choice }) => [operator, upgradedTo(operator, choice)]));
    return {
      stage: trial.planned,
      operators: [
        ...operators.map((one) => after.get(one) ?? one),
        ...trial.added.flatMap((one) => after.get(one) ?? []),
      ],
    };
  }

  /** The best choice for each operator. @throws UpgradeRefusal with each operator that has none */
  #bestWays(stages: readonly Stage[], operators: readonly ClusterOperator[]): OpenWay[] {
    const wrong: string[] = [];
    const platforms = stages.map(({ platform }) => platform);
    const ways = operators.flatMap((operator) => {
      const others = this.#ways(stages, operator);
      const first = others.next();
      if (!first.done) return [{ operator, choice: first.value, others }];
      const why = stages
        .map((one) => complaintAt(one, operator, this.#context))
        .find((one) => one !== undefined);
      wrong.push(
        `package ${operator.package}: no upgrade leads from ${operator.installed.name} at ${textOf(platforms.slice(0, 1))} to a version that may run at ${textOf(platforms)}${why === undefined ? '' : `: ${why}`}`,
      );
      return [];
    });
    if (wrong.length > 0) throw new UpgradeRefusal(wrong.join('\n'));
    return ways;
  }

  /** Tries choices until they go together. @throws UpgradeRefusal where they do not */
  #together(stage: Stage, ways: readonly OpenWay[]): Trial {
    let trial = this.#trial(stage, ways);
    // Together they may need more than each of them alone: one after the other gets a higher version.
    for (const way of ways) {
      for (let tries = 0; trial.reasons.length > 0 && tries < MOST_TRIES; tries++) {
        const another = way.others.next();
        if (another.done) break;
        way.choice = another.value;
        trial = this.#trial(stage, ways);
      }
    }
    const [reason] = trial.reasons;
    if (reason === undefined) return trial;
    throw new UpgradeRefusal(`at ${formatMinor(stage.platform)} the upgrades do not go together: ${reason}`);
  }

  /** What an operator may become at the first of these stages, if it gets through the others from there. */
  *#ways(stages: readonly Stage[], operator: ClusterOperator): Generator<StageChoice> {
    const [stage, ...others] = stages;
    if (!stage) return;
    for (const choice of choicesAt(stage, operator, this.#context)) {
      const next = upgradedTo(operator, choice);
      if (others.length === 0 || !this.#ways(others, next).next().done) yield choice;
    }
  }

  /** Simulates a stage with a choice for each operator, and adds what these require. */
  #trial(stage: Stage, ways: readonly Way[]): Trial {
    const all = this.#withRequired(stage, ways);
    // What counts is what OLM does with the selections alone.
    const found = simulateSwitch(ways.map(placedOf), this.#sources(all), { cel: this.#context.cel });
    const wrong = all.flatMap(({ operator, choice }) => {
      const last = found.steps.findLast(
        (step) => step.package === operator.package && step.namespace === operator.namespace,
      );
      const end = last?.to.name ?? operator.installed.name;
      return end === choice.end.name ? [] : [`${operator.package} ends at ${end}, not at ${choice.end.name}`];
    });
    const required = all.slice(ways.length);
    // Those that were chosen may leave the stage: `choicesAt` offers no others.
    const blocked = required.flatMap(({ operator, choice: { home, end } }) => {
      const bundle = home.catalog.packages.get(operator.package)?.bundles.get(end.name);
      if (bundle && mayLeaveWith(stage, operator.package, bundle)) return [];
      return [`${end.name}, which is required, keeps the cluster from ${textOf(stage.next)}`];
    });
    return {
      ways: all,
      added: required.map(({ operator }) => operator),
      reasons: [...found.reasons, ...wrong, ...blocked],
      planned: {
        platform: stage.platform,
        selections: selectionsOf(all),
        placed: ways.map(placedOf),
        steps: found.steps,
        drawbacks: new Map(all.map(({ operator, choice }) => [operator.package, choice.drawbacks])),
      },
    };
  }

  /** The ways, and behind them those of the packages that they require: OLM shows these if it sees the whole catalogs, too. */
  #withRequired(stage: Stage, ways: readonly Way[]): Way[] {
    const { cel } = this.#context;
    const beside = scopeCatalogs(stage.catalogs);
    const all = [...ways];
    // What is required may itself require more.
    for (let hasMore = true; hasMore; ) {
      hasMore = false;
      const { steps } = simulateSwitch(all.map(placedOf), this.#sources(all), { cel, beside });
      for (const { to, package: name, namespace, operator } of steps) {
        const home = stage.catalogs.find((one) => wholeName(one.name) === to.catalog);
        const isKnown = all.some(
          (one) => one.operator.package === name && one.operator.namespace === namespace,
        );
        if (operator || !home || !to.version || isKnown) continue;
        all.push(requiredWay({ name, namespace, home, channel: to.channel, to }));
        hasMore = true;
      }
    }
    return all;
  }

  #sources(ways: readonly Way[]): ScopeCatalog[] {
    return [...selectionsOf(ways)].map(([home, packages]) => sourceOf(home, packages));
  }
}

/** Other versions of an operator that are tried where all together do not resolve. */
const MOST_TRIES = 20;

interface Way {
  readonly operator: ClusterOperator;
  readonly choice: StageChoice;
}

/** A way with other choices, the next best first. */
interface OpenWay extends Way {
  choice: StageChoice;
  readonly others: Generator<StageChoice>;
}

interface Trial {
  /** Those that were tried, then those of `added`. */
  readonly ways: readonly Way[];
  /** Operators that OLM v0 installs because others require them. */
  readonly added: readonly ClusterOperator[];
  /** Why the ways do not go together; empty where they do. */
  readonly reasons: readonly string[];
  readonly planned: PlannedStage;
}

/** An operator at the end of a stage. A ClusterExtension keeps its channels, which `specOf` replaces for the upgrade alone. */
function upgradedTo(operator: ClusterOperator, { channel, end }: StageChoice): ClusterOperator {
  const channels = operator.olm === 'v0' ? [channel] : operator.channels;
  return { ...operator, channels, installed: end };
}

/** An operator with the channel and the version that a way gives it. */
function placedOf({ operator, choice }: Way): PlacedOperator {
  const { version } = choice.end;
  return { operator, channel: choice.channel, version: version ? formatVersion(version) : '' };
}

/** The choice for an operator that OLM v0 installs because another one requires it. */
function requiredWay({
  name,
  namespace,
  home,
  channel,
  to,
}: {
  name: string;
  namespace: string;
  home: PlatformCatalog;
  channel: string;
  to: OperatorStep['to'];
}): Way {
  const version = to.version ? formatVersion(to.version) : '';
  const isDefault = home.catalog.packages.get(name)?.defaultChannel === channel;
  return {
    operator: {
      olm: 'v0',
      package: name,
      channels: [channel],
      range: '',
      installed: { name: '', version: undefined },
      namespace,
      name,
      isManual: false,
    },
    choice: {
      home,
      selection: {
        name,
        ...(isDefault ? {} : { defaultChannel: channel }),
        channels: [{ name: channel, minVersion: version, maxVersion: version }],
      },
      channel,
      end: { name: to.name, version: to.version },
      isUpgrade: true,
      drawbacks: [],
    },
  };
}

/** What the ways select of each catalog. */
function selectionsOf(ways: readonly Way[]): Map<PlatformCatalog, PackageSelection[]> {
  const selections = new Map<PlatformCatalog, PackageSelection[]>();
  for (const { choice } of ways) {
    const list = selections.get(choice.home) ?? [];
    // Several namespaces may have the same operator.
    if (!list.some(({ name }) => name === choice.selection.name)) list.push(choice.selection);
    selections.set(choice.home, list);
  }
  return selections;
}

/** A catalog of the cluster with only what is selected. */
export function sourceOf(home: PlatformCatalog, packages: readonly PackageSelection[]): ScopeCatalog {
  const catalog = selectedOf(home, packages);
  return {
    name: home.name,
    namespace: 'olm',
    priority: 0,
    catalog: catalog ?? {
      packages: new Map(),
      blobs: NO_BLOBS,
    },
    serving: catalog !== undefined && isServed(catalog, []),
  };
}

function textOf(minors: readonly Minor[]): string {
  return minors.map(formatMinor).join(', ');
}

/** All choices of versions that end with the last one, those with fewer first. */
function fewestFirst(minors: readonly Minor[]): Minor[][] {
  const last = minors.length - 1;
  // Each bit of `bits` says whether a version before the last one takes part.
  const all = Array.from({ length: 2 ** last }, (_, bits) =>
    minors.filter((_minor, i) => i === last || (bits >> i) % 2 === 1),
  );
  return all.sort((a, b) => a.length - b.length);
}
