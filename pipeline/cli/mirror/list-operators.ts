import { listBundles, listChannels, listPackages } from '../../../catalog/olm/listing.ts';
import { parseReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText, linesText } from '../../text.ts';
import { tableText } from '../catalog/table.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { readOperands } from '../operands.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'mirror list operators',
  operands: '',
  options: {
    catalog: { value: 'DIR|IMAGE', description: 'list the packages of this catalog' },
    package: { value: 'NAME', description: 'with --catalog: list the channels of this package' },
    channel: { value: 'CHANNEL', description: 'with --package: list the versions in this channel' },
    catalogs: { description: 'with --version: list the catalogs of OperatorHub that exist for it' },
    version: { value: 'MINOR', description: 'OpenShift version of the catalogs, for example 4.20' },
    ...REGISTRY_OPTIONS,
  },
  details: 'portolan list packages, channels and bundles show more of each, and print JSON.',
  examples: [
    'portolan mirror list operators --catalog quay.io/acme/catalog:v4.20 --package harbour-operator',
    'portolan mirror list operators --catalogs --version 4.20',
  ],
  run: async (invocation, terminal) => {
    const { text, flag } = invocation;
    const [catalog, name, channel, version] = ['catalog', 'package', 'channel', 'version'].map((one) =>
      text(one),
    );
    if (flag('catalogs') === (catalog !== undefined))
      throw usageError(command, 'name either --catalog, or --catalogs with --version');
    if (flag('catalogs') !== (version !== undefined))
      throw usageError(command, '--catalogs and --version need each other');
    if (name !== undefined && catalog === undefined) throw usageError(command, '--package needs --catalog');
    if (channel !== undefined && name === undefined) throw usageError(command, '--channel needs --package');
    if (version !== undefined) return listCatalogs(version, invocation, terminal);
    return listIn(catalog ?? '', { name, channel }, { invocation, terminal });
  },
};

interface CommandContext {
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

/** Lists the packages of a catalog, the channels of a package, or the versions of a channel, in oc-mirror's columns. */
async function listIn(
  operand: string,
  { name, channel }: { readonly name: string | undefined; readonly channel: string | undefined },
  { invocation, terminal }: CommandContext,
): Promise<ExitCode> {
  const [read] = await readOperands([operand], invocation, terminal);
  // Each operand gives one catalog: there is always one.
  if (!read) return 2;
  const errors = read.unread.filter(({ severity }) => severity === 'error');
  for (const finding of errors) terminal.err(findingText(finding));
  const packages = listPackages(read.catalog).filter((row) => name === undefined || row.package === name);
  if (name !== undefined && packages.length === 0) throw noPackage(name, [read.catalog]);
  const rows = packages.map((row) => [row.package, row.displayName, row.defaultChannel]);
  const table = tableText(['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'], rows, terminal);
  if (name === undefined) await terminal.out(table);
  else if (channel === undefined) {
    const channels = listChannels(read.catalog).filter((row) => row.package === name);
    const cells = channels.map((row) => [row.package, row.channel, row.head]);
    await terminal.out(`${table}\n${tableText(['PACKAGE', 'CHANNEL', 'HEAD'], cells, terminal)}`);
  } else {
    const bundles = listBundles(read.catalog).filter(
      (row) => row.package === name && row.channel === channel,
    );
    if (bundles.length === 0)
      throw new PipelineError(
        'usage',
        `package ${JSON.stringify(name)} has no channel ${JSON.stringify(channel)}`,
      );
    await terminal.out(
      tableText(
        ['VERSIONS'],
        bundles.map(({ version }) => [version]),
        terminal,
      ),
    );
  }
  return errors.length > 0 ? 1 : 0;
}

/** The catalogs of OperatorHub: that of the marketplace ended with 4.21. */
const CATALOGS = ['redhat-operator-index', 'certified-operator-index', 'community-operator-index'] as const;
const MARKETPLACE = 'redhat-marketplace-index';

/** Lists the catalogs that Red Hat has for a version of OpenShift, and those that it does not have. */
async function listCatalogs(version: string, invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const [, major, minor] = /^(\d{1,3})\.(\d{1,3})$/.exec(version) ?? [];
  if (major === undefined)
    throw usageError(command, `--version must be a version such as 4.20, not ${JSON.stringify(version)}`);
  const isOld = Number(major) === 4 && Number(minor) < 21;
  return withRegistryClient<ExitCode>(invocation, terminal, {}, async (client) => {
    const lines: string[] = [];
    for (const name of [...CATALOGS, ...(isOld ? [MARKETPLACE] : [])]) {
      const reference = `registry.redhat.io/redhat/${name}:v${version}`;
      const found = await client.resolve(parseReference(reference));
      lines.push(found ? reference : `${reference} does not exist`);
    }
    await terminal.out(linesText(lines));
    return 0;
  });
}
