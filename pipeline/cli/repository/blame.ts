import { resolve } from 'node:path';
import type { FleetInstallation } from '../../../catalog/olm/fleet/fleet.ts';
import type { Olm } from '../../../catalog/olm/foresight/world.ts';
import { tryParseVersion } from '../../../catalog/version/version.ts';
import { blameMerges } from '../../check/blame/blame.ts';
import { mustGatherInstallations } from '../../check/blame/must-gather.ts';
import { timeLimit } from '../../check/rehearsal/time-limit.ts';
import { PipelineError } from '../../error.ts';
import { withRepository } from '../../git/repository.ts';
import { policyOrLayoutAt } from '../../policy/setup/policy-or-layout.ts';
import { blameText } from '../../report/blame-text.ts';
import { searchPath, type Terminal } from '../../terminal.ts';
import { amountText } from '../../text.ts';
import { type Command, countOption, type Invocation, usageError } from '../command.ts';
import { FLEET_OPTION, fleetOption } from '../fleet-option.ts';
import { formedOption, RANGE } from '../formed-option.ts';
import { printErrors } from '../rendering.ts';

/** How long histories are searched if nobody says it, in s. */
const SECONDS = 120;

export const command: Command = {
  words: 'blame',
  operands: '[PACKAGE]',
  options: {
    version: { value: 'VERSION', description: 'installed version' },
    name: {
      value: 'BUNDLE',
      description: 'name of the installed bundle (its CSV), if several have the version',
    },
    channel: {
      value: 'CHANNEL',
      description:
        'subscribed channel (default: one that has the version); for OLM v1, a channel of the ClusterExtension',
      multiple: true,
    },
    olm: { value: 'v0|v1', description: 'OLM version on the cluster (default: both)' },
    range: { value: 'RANGE', description: 'for OLM v1: version range in the ClusterExtension' },
    catalog: { value: 'NAME', description: 'catalog on the cluster, for example v4.20 (default: all)' },
    repo: { value: 'DIR', description: 'path of a clone with its history (default: current directory)' },
    head: { value: 'REF', description: 'branch that clusters get their catalogs from (default: HEAD)' },
    fleet: {
      ...FLEET_OPTION.fleet,
      description:
        'instead of PACKAGE: file that lists what your clusters have installed (portolan inventory), to search for all that are stuck; repeat it to combine files',
    },
    'must-gather': { value: 'DIR', description: 'instead of PACKAGE: must-gather of a cluster' },
    timeout: { value: 'SECONDS', description: `time after which the search ends (default: ${SECONDS})` },
    format: { value: 'text|json', description: 'output format (default: text)' },
  },
  details: [
    'Names the merge since which an installed version has no upgrade path to a channel head, and the smallest fix in the',
    'catalog as it is now. Portolan resolves each state of the package with the resolver of the cluster, from the latest back',
    'to the last one in which the version could upgrade. Nothing outside the clone is contacted. The exit code is 1 if an',
    'installation is stuck, and 2 if it is not known since when, or if the time did not suffice.',
  ].join('\n'),
  examples: [
    'portolan blame etcd --version 0.9.2 --channel alpha',
    'portolan blame --repo ../catalogs --fleet fleet.json',
    'portolan blame --repo ../catalogs --must-gather must-gather.local.123 --catalog v4.20',
  ],
  run: async (invocation, terminal) => {
    const installations = await installationsOf(invocation, terminal);
    const limit = timeLimit(countOption(command, invocation, 'timeout') ?? SECONDS, () => +terminal.now());
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    return withRepository(directory, searchPath(terminal), async (repository) => {
      const [tip = ''] = await repository.resolve([invocation.text('head') ?? 'HEAD']);
      const { policy, findings } = await policyOrLayoutAt(repository, tip);
      if (printErrors(findings, terminal) || !policy)
        throw new PipelineError('usage', 'the policy is not valid');
      const catalog = invocation.text('catalog');
      const report = await blameMerges(repository, { tip, policy, installations, catalog, limit });
      const isAsked = invocation.operands.length > 0;
      const isJson = invocation.word('format', ['text', 'json']) === 'json';
      await terminal.out(
        isJson ? `${JSON.stringify(report, null, 2)}\n` : blameText(report, { all: isAsked }),
      );
      // Merges were left when the time was up: what they did is not known.
      if (limit.left > 0) return 2;
      if (report.blamed.length === 0) throw unknownVersion(installations, catalog);
      const causes = report.blamed.flatMap(({ cause }) => cause ?? []);
      if (causes.some(({ kind }) => kind === 'unknown')) return 2;
      return causes.length > 0 ? 1 : 0;
    });
  },
};

/** The error where no catalog of the branch ever had one of the versions that are asked about. */
function unknownVersion(all: readonly FleetInstallation[], catalog: string | undefined): PipelineError {
  const where = catalog === undefined ? 'no catalog of the branch' : `catalog ${JSON.stringify(catalog)}`;
  return new PipelineError(
    'not-found',
    `${where} has or had ${amountText(all.length, 'installation')} that you name`,
    {
      hint: 'list the versions with portolan list bundles DIR',
    },
  );
}

/** The installations that the options name: one package, a fleet, or a must-gather. */
async function installationsOf(
  invocation: Invocation,
  terminal: Terminal,
): Promise<readonly FleetInstallation[]> {
  const { operands, text } = invocation;
  const [name] = operands;
  const gathered = text('must-gather');
  const sources = [name, gathered, invocation.list('fleet')[0]].filter((one) => one !== undefined);
  if (sources.length !== 1) throw usageError(command, 'name one of PACKAGE, --fleet and --must-gather');
  if (name !== undefined) return askedInstallations(name, invocation);
  if (gathered !== undefined) return mustGatherInstallations(resolve(terminal.directory, gathered));
  // Rows of many clusters share an installation, which is searched for once.
  const rows = fleetOption(invocation, terminal)?.rows ?? [];
  return [...new Set(rows.map(({ installation }) => installation))];
}

/** The installation that the options describe, under each OLM that is asked about. */
function askedInstallations(name: string, invocation: Invocation): FleetInstallation[] {
  const { text, word, list } = invocation;
  const [version, bundle] = [text('version'), text('name')];
  if (version === undefined && bundle === undefined)
    throw usageError(command, '--version or --name is required');
  if (version !== undefined && !tryParseVersion(version))
    throw usageError(command, `--version must be a version such as 1.2.3, not ${JSON.stringify(version)}`);
  const olm = word('olm', ['v0', 'v1']);
  const range = formedOption(command, invocation, { option: 'range', form: RANGE }) ?? '';
  const channels = list('channel');
  if (olm === 'v0' && channels.length > 1)
    throw usageError(command, 'under OLM v0 a subscription has one channel');
  // A Subscription of OLM v0 has one channel, so several can only be those of a ClusterExtension.
  const olms: readonly Olm[] = olm === undefined ? (channels.length > 1 ? ['v1'] : ['v0', 'v1']) : [olm];
  return olms.map((one) => ({
    platform: '',
    olm: one,
    package: name,
    channels,
    range: one === 'v1' ? range : '',
    catalog: '',
    name: bundle ?? '',
    version: version ?? '',
    isManual: false,
  }));
}
