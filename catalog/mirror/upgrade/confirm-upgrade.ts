/** Follows a plan with what its ImageSetConfiguration mirrors, as a cluster that has nothing else would. */
import { compareMinors, formatMinor, limitAllows, limitOf, minorOf } from '../../fbc/openshift.ts';
import { formatVersion, type tryParseVersion } from '../../version/version.ts';
import { type CatalogSelection, readImageSet } from '../image-set.ts';
import { ChannelError, releasesAcross, releasesOf } from '../release/channel-releases.ts';
import type { ReleaseChannel } from '../release/release-selection.ts';
import type { UpdateGraphs } from '../release/update-graph.ts';
import type { ClusterOperator, PlatformCatalog } from './cluster.ts';
import { type PlannedStage, sourceOf, type UpgradePlan, type UpgradeRequest } from './plan-upgrade.ts';
import { simulateSwitch } from './simulate.ts';

type Confirming = Pick<UpgradeRequest, 'catalogs' | 'graphs' | 'cel'>;

/**
 * Checks a plan against the ImageSetConfiguration made from it, by simulating each stage with only what that mirrors.
 *
 * @returns what is missing, in sentences
 */
export async function confirmUpgrade(
  plan: UpgradePlan,
  imageSet: string,
  request: Confirming,
): Promise<string[]> {
  const { imageSet: read, findings } = readImageSet(imageSet, 'imageset-config.yaml');
  if (!read) return findings.map(({ message }) => message);
  const selected = await versionsIn(read.platform?.channels ?? [], request.graphs);
  const missing = plan.releases
    .filter(({ release }) => !selected.has(release.version))
    .map(({ release }) => `the configuration does not have the release ${release.version}`);
  return [...missing, ...stagesConfirmed(plan, read.catalogs, request)];
}

/** Versions of the releases that channels select, and of those on the way from one channel to the next. */
export async function versionsIn(
  channels: readonly ReleaseChannel[],
  graphs: UpdateGraphs,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const add = async (work: ReturnType<typeof releasesOf>): Promise<void> => {
    try {
      for (const { version } of (await work).releases) found.add(version);
    } catch (error) {
      // What a channel does not select is missing, which the caller reports.
      if (!(error instanceof ChannelError)) throw error;
    }
  };
  for (const channel of channels) await add(releasesOf(channel, graphs));
  if (channels.length > 1) await add(releasesAcross(channels, graphs));
  return found;
}

/**
 * Simulates each stage with what the configuration selects, since OLM may act otherwise on fewer bundles. Also reports
 * operators that would keep the cluster from its next release.
 */
function stagesConfirmed(
  plan: UpgradePlan,
  selections: readonly CatalogSelection[],
  { catalogs, cel }: Confirming,
): string[] {
  const missing: string[] = [];
  let operators = plan.cluster.operators;
  const releases = [...plan.releases];
  for (const stage of plan.stages) {
    // The cluster is at these releases before it gets the catalogs of the stage.
    while (releases[0] && compareMinors(minorOf(releases[0].release.parsed), stage.platform) <= 0) {
      const reached = releases.shift()?.release.parsed;
      for (const obstacle of obstaclesTo(reached, operators, catalogs)) missing.push(obstacle);
    }
    const sources = catalogs
      .filter(({ platform }) => compareMinors(platform, stage.platform) === 0)
      .flatMap((home) =>
        selections
          .filter(({ catalog, packages }) => catalog === home.reference && packages.length > 0)
          .map(({ packages }) => sourceOf(home, packages)),
      );
    const placed = stage.placed.flatMap((one) => {
      const now = operators.find((other) => isSame(other, one.operator));
      return now ? [{ ...one, operator: now }] : [];
    });
    const found = simulateSwitch(placed, sources, { cel });
    for (const text of found.reasons) missing.push(`at ${formatMinor(stage.platform)}: ${text}`);
    const [expected, actual] = [textOf(stage.steps), textOf(found.steps)];
    if (expected !== actual)
      missing.push(
        `at ${formatMinor(stage.platform)}: OLM makes the upgrades ${actual || 'none'}, not ${expected || 'none'}`,
      );
    operators = afterStage(operators, { ...stage, steps: found.steps });
  }
  for (const { release } of releases) {
    for (const obstacle of obstaclesTo(release.parsed, operators, catalogs)) missing.push(obstacle);
  }
  return missing;
}

function isSame(a: ClusterOperator, b: ClusterOperator): boolean {
  return a.package === b.package && a.namespace === b.namespace && a.name === b.name && a.olm === b.olm;
}

function textOf(steps: PlannedStage['steps']): string {
  return steps.map(({ package: name, to }) => `${name} to ${to.name}`).join(', ');
}

/** The operators with what a stage has upgraded and added. */
function afterStage(operators: readonly ClusterOperator[], stage: PlannedStage): ClusterOperator[] {
  return [
    ...operators.map((operator) => upgradedOperator(operator, stage)),
    ...requiredOperators(stage.steps, operators),
  ];
}

/** An operator with the channel that a stage gave it, and with what OLM installed last. */
function upgradedOperator(operator: ClusterOperator, { steps, placed }: PlannedStage): ClusterOperator {
  const last = steps.findLast((step) => step.operator && isSame(step.operator, operator));
  const channel = placed.find((one) => isSame(one.operator, operator))?.channel;
  const channels = operator.olm === 'v0' && channel !== undefined ? [channel] : operator.channels;
  return {
    ...operator,
    channels,
    ...(last ? { installed: { name: last.to.name, version: last.to.version } } : {}),
  };
}

/** The operators that OLM v0 installed because others require them, each as its last step left it. */
function requiredOperators(
  steps: PlannedStage['steps'],
  operators: readonly ClusterOperator[],
): ClusterOperator[] {
  const required = new Map(
    steps.flatMap((step) => (step.operator ? [] : [[`${step.namespace} ${step.package}`, step] as const])),
  );
  return [...required.values()].flatMap(({ package: name, namespace, to }): ClusterOperator[] =>
    operators.some((one) => one.package === name && one.namespace === namespace)
      ? []
      : [
          {
            olm: 'v0',
            package: name,
            channels: [to.channel],
            range: '',
            namespace,
            name,
            isManual: false,
            installed: { name: to.name, version: to.version },
          },
        ],
  );
}

/** Why a cluster with these operators cannot go to a release, in sentences. */
function obstaclesTo(
  version: ReturnType<typeof tryParseVersion>,
  operators: readonly ClusterOperator[],
  catalogs: readonly PlatformCatalog[],
): string[] {
  if (!version) return [];
  return operators.flatMap(({ package: name, installed }) => {
    const bundle = catalogs
      .map(({ catalog }) => catalog.packages.get(name)?.bundles.get(installed.name))
      .find((one) => one !== undefined);
    // The limit of a bundle that no catalog has is not known.
    return bundle && limitAllows(limitOf(bundle.properties), minorOf(version))
      ? []
      : [`${installed.name} keeps the cluster from ${formatVersion(version)}`];
  });
}
