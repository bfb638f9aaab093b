/** `mirror plan --from`: the least that gets a cluster to a later version of OpenShift. */
import { basename, join, resolve } from 'node:path';
import { shortName } from '../../../../catalog/fbc/edge.ts';
import {
  compareMinors,
  formatMinor,
  minorOf,
  minorOfCatalog,
  tryParseMinor,
} from '../../../../catalog/fbc/openshift.ts';
import { ARCHITECTURES, type Architecture } from '../../../../catalog/mirror/release/release-selection.ts';
import type { UpdateGraphs } from '../../../../catalog/mirror/release/update-graph.ts';
import { catalogNames } from '../../../../catalog/mirror/style.ts';
import { type PlatformCatalog, UpgradeRefusal } from '../../../../catalog/mirror/upgrade/cluster.ts';
import { confirmUpgrade } from '../../../../catalog/mirror/upgrade/confirm-upgrade.ts';
import {
  type PlannedStage,
  planUpgrade,
  type UpgradePlan,
} from '../../../../catalog/mirror/upgrade/plan-upgrade.ts';
import type { UpgradeTarget } from '../../../../catalog/mirror/upgrade/release-path.ts';
import { upgradeImageSet } from '../../../../catalog/mirror/upgrade/upgrade-image-set.ts';
import { shellWord } from '../../../../catalog/names.ts';
import { celFor } from '../../../../catalog/olm/foresight/world.ts';
import { formatVersion, tryParseVersion } from '../../../../catalog/version/version.ts';
import { isDirectory } from '../../../directory.ts';
import { PipelineError } from '../../../error.ts';
import { openReleaseSource } from '../../../mirror/releases/update-graphs.ts';
import type { ExitCode, Terminal } from '../../../terminal.ts';
import { linesText, plainText } from '../../../text.ts';
import { writeFiles } from '../../../write.ts';
import type { Invocation } from '../../command.ts';
import { readOperands } from '../../operands.ts';
import { releasePlaces } from '../release-places.ts';
import { upgradingCluster } from './upgrading-cluster.ts';

/** Names of the files that are written. */
const IMAGE_SET = 'imageset-config.yaml';
const PATCHES = 'patches.sh';
const LIST = 'upgrade.txt';

/** Plans the upgrade of a cluster and writes it. @throws PipelineError `usage` */
export async function planClusterUpgrade(
  from: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<ExitCode> {
  const { operands, text } = invocation;
  const target = targetOf(invocation.needed('to'));
  const architecture = architectureOf(text('architecture') ?? 'amd64');
  const kind = text('release-channel') ?? 'stable';
  const cluster = await upgradingCluster(from, invocation, terminal);
  const catalogs = await platformCatalogs(operands, invocation, terminal);
  const source = openReleaseSource(releasePlaces(invocation, terminal));
  try {
    const graphs: UpdateGraphs = source.graphs(architecture);
    const cel = await celFor(catalogs);
    const today = terminal.now().toISOString().slice(0, 10);
    const request = { cluster, target, catalogs, graphs, kind, today, cel };
    const plan = await planUpgrade(request);
    const imageSet = upgradeImageSet(plan, architecture);
    const wrong = await confirmUpgrade(plan, imageSet, request);
    if (wrong.length > 0) {
      for (const one of wrong) terminal.err(`not confirmed: ${plainText(one)}\n`);
      return 1;
    }
    return await write(plan, imageSet, { invocation, terminal });
  } catch (error) {
    if (!(error instanceof UpgradeRefusal)) throw error;
    for (const line of error.message.split('\n')) terminal.err(`no upgrade plan: ${plainText(line)}\n`);
    return error.isUnknown ? 2 : 1;
  } finally {
    source.close();
  }
}

/** Writes the list of steps, the commands and the ImageSetConfiguration, and prints the list. */
async function write(
  plan: UpgradePlan,
  imageSet: string,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<ExitCode> {
  const out = invocation.text('out') ?? 'mirror';
  const items = itemsOf(plan);
  const list = linesText(listLines(plan, items));
  const files = new Map([
    [LIST, list],
    [PATCHES, patchesText(plan)],
    [IMAGE_SET, imageSet],
  ]);
  writeFiles(resolve(terminal.directory, out), files);
  if (invocation.text('format') === 'json')
    await terminal.out(
      `${JSON.stringify({ cluster: plan.cluster.name, from: formatVersion(plan.cluster.platform), steps: items }, null, 2)}\n`,
    );
  else await terminal.out(list);
  terminal.err(`${[...files.keys()].map((name) => join(out, name)).join(', ')}\n`);
  return 0;
}

/** A step of the plan; as JSON a public interface. */
type Item =
  | { readonly kind: 'release'; readonly version: string; readonly channel: string }
  | {
      readonly kind: 'operator';
      readonly platform: string;
      readonly package: string;
      readonly olm: 'v0' | 'v1';
      readonly namespace: string;
      /** Empty where OLM installs it because another operator requires it. */
      readonly from: string;
      readonly to: string;
      readonly version?: string;
      readonly channel: string;
      readonly catalog: string;
      readonly needsApproval: boolean;
      readonly drawbacks: readonly string[];
    };

/** The steps of an upgrade in order. Operators are upgraded after the last release of their stage's version. */
function itemsOf({ releases, stages, cluster }: UpgradePlan): Item[] {
  const items: Item[] = [];
  const waiting = [...releases];
  const installed = new Map(
    cluster.operators.map((one) => [`${one.olm} ${one.namespace} ${one.package}`, shortName(one.installed)]),
  );
  // A stage begins when the cluster has the last release of its minor version.
  for (const stage of stages) {
    while (waiting[0] && compareMinors(minorOf(waiting[0].release.parsed), stage.platform) <= 0) {
      const next = waiting.shift();
      if (next) items.push({ kind: 'release', version: next.release.version, channel: next.channel });
    }
    for (const { operator, package: name, namespace, to } of stage.steps) {
      // A step without an operator is a dependency, which only OLM v0 installs by itself.
      const key = `${operator?.olm ?? 'v0'} ${namespace} ${name}`;
      const placed = stage.placed.find(
        (one) => one.operator.package === name && one.operator.namespace === namespace,
      );
      items.push({
        kind: 'operator',
        platform: formatMinor(stage.platform),
        package: name,
        olm: operator?.olm ?? 'v0',
        namespace,
        from: installed.get(key) ?? '',
        to: to.name,
        ...(to.version ? { version: formatVersion(to.version) } : {}),
        channel: placed?.channel ?? to.channel,
        catalog: catalogOfPackage(stage, name),
        needsApproval: operator?.isManual ?? false,
        drawbacks: stage.drawbacks.get(name) ?? [],
      });
      installed.set(key, shortName(to));
    }
  }
  for (const { release, channel } of waiting)
    items.push({ kind: 'release', version: release.version, channel });
  return items;
}

/** The pull spec of the catalog that has a package in a stage; empty if none has it. */
function catalogOfPackage({ selections }: Pick<PlannedStage, 'selections'>, name: string): string {
  const home = [...selections].find(([, packages]) => packages.some((one) => one.name === name))?.[0];
  return home?.reference ?? '';
}

/** The plan as a numbered list, in the order in which the steps are to be done. */
function listLines({ cluster, releases }: UpgradePlan, items: readonly Item[]): string[] {
  const end = releases.at(-1)?.release.version ?? formatVersion(cluster.platform);
  const width = String(items.length).length;
  return [
    `${plainText(cluster.name)}: OpenShift ${formatVersion(cluster.platform)} to ${plainText(end)}, ${items.length} steps, each simulated`,
    ...items.map((item, i) => `${String(i + 1).padStart(width + 1)}. ${plainText(itemText(item))}`),
  ];
}

/** A step in words, with what the administrator has to do for it. */
function itemText(item: Item): string {
  if (item.kind === 'release') return `update OpenShift to ${item.version} (channel ${item.channel})`;
  const { package: name, from, to, version, olm, channel, catalog, needsApproval, drawbacks } = item;
  const verb = from === '' ? `install ${name}` : `upgrade ${name} from ${from} to`;
  const notes = [...(needsApproval ? ['approve its InstallPlan'] : []), ...drawbacks];
  const more = notes.length > 0 ? `; ${notes.join('; ')}` : '';
  return `${verb} ${version ?? to} (OLM ${olm}, channel ${channel}, catalog ${catalog}${from === '' ? ', required by another operator' : ''})${more}`;
}

/** Commands for each version of the platform at which the cluster gets other catalogs. */
function patchesText({ stages }: UpgradePlan): string {
  const lines = stages.flatMap(({ platform, placed, selections }) => [
    `# At OpenShift ${formatMinor(platform)}, after oc apply of the catalogs for this version:`,
    ...placed.map(({ operator, channel, version }) => {
      const catalog = catalogOfPackage({ selections }, operator.package);
      const { catalogSource } = catalogNames('nested', catalog, NOWHERE);
      const { olm, name, namespace, channels, range } = operator;
      if (olm === 'v0') {
        // Where the documents of a mirror plan put CatalogSources.
        const patch = { spec: { channel, source: catalogSource, sourceNamespace: 'openshift-marketplace' } };
        const where = namespace === '' ? '' : ` -n ${shellWord(namespace)}`;
        return `oc patch subscriptions.operators.coreos.com ${shellWord(name)}${where} --type merge -p ${shellWord(JSON.stringify(patch))}`;
      }
      // What the extension does not restrict today stays unrestricted; later versions than the planned one may not be mirrored.
      const asks = {
        ...(range === '' ? {} : { version: `<=${version}` }),
        ...(channels.length === 0 ? {} : { channels: [channel] }),
      };
      if (Object.keys(asks).length === 0) return `# ClusterExtension ${plainText(name)} needs no patch`;
      const patch = { spec: { source: { catalog: asks } } };
      return `oc patch clusterextensions.olm.operatorframework.io ${shellWord(name)} --type merge -p ${shellWord(JSON.stringify(patch))}`;
    }),
  ]);
  return linesText(['#!/bin/sh', 'set -e', ...lines]);
}

/** Names in the default style do not depend on the mirror. */
const NOWHERE = { transport: 'registry' as const, registry: '', repository: '', tag: '' };

/** A minor version, or a whole one. @throws PipelineError `usage` */
function targetOf(text: string): UpgradeTarget {
  const minor = tryParseMinor(text);
  if (minor) return { minor, version: undefined };
  const version = tryParseVersion(text);
  if (version) return { minor: minorOf(version), version };
  throw new PipelineError(
    'usage',
    `with --from, --to must be a version of OpenShift, not ${JSON.stringify(text)}`,
    {
      hint: 'for example 4.20 or 4.20.3',
    },
  );
}

/** The architecture that an option names. @throws PipelineError `usage` for one without releases */
function architectureOf(text: string): Architecture {
  const known = Object.keys(ARCHITECTURES).find((name): name is Architecture => name === text);
  if (known) return known;
  throw new PipelineError('usage', `--architecture must be one of ${Object.keys(ARCHITECTURES).join(', ')}`);
}

/** The catalogs of a command line, each for the version of OpenShift in its name. */
async function platformCatalogs(
  operands: readonly string[],
  invocation: Invocation,
  terminal: Terminal,
): Promise<PlatformCatalog[]> {
  const read = await readOperands(operands, invocation, terminal);
  return read.map(({ name, catalog, unread }, i) => {
    // Each operand gives one catalog.
    const operand = operands[i] ?? name;
    // By its name; else by the tag, or the last part, of what was typed.
    const platform = minorOfCatalog(basename(name)) ?? minorOfCatalog(operand.replace(/.*[:/]/, ''));
    if (!platform)
      throw new PipelineError('usage', `cannot tell the OpenShift version of the catalog ${operand}`, {
        hint: 'name its directory or its tag after it, for example v4.20',
      });
    const [error] = unread.filter(({ severity }) => severity === 'error');
    if (error)
      throw new PipelineError('usage', `${operand} cannot be read whole: ${error.message}`, {
        hint: `portolan validate ${shellWord(operand)}`,
      });
    const path = resolve(terminal.directory, operand);
    // The ImageSetConfiguration names an image: for a directory, the one that is published from it.
    const own = isDirectory(path)
      ? `${invocation.text('as') ?? 'localhost/catalog'}:${basename(path)}`
      : operand;
    return { name: operand, platform, reference: own, catalog };
  });
}
