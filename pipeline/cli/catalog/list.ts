/** What the commands that list a catalog share. */
import type { Catalog } from '../../../catalog/fbc/model.ts';
import { listBundles, listChannels, listPackages } from '../../../catalog/olm/listing.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Command, Invocation, Option } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { tableText } from './table.ts';

const LIST_OPTIONS: Readonly<Record<string, Option>> = {
  package: { value: 'NAME', description: 'only this package' },
  json: { description: 'print the rows as JSON, with all fields' },
  ...REGISTRY_OPTIONS,
};

/** How rows of one kind are made and shown. */
interface Listing<Row> {
  readonly rows: (catalog: Catalog) => readonly Row[];
  readonly titles: readonly string[];
  readonly cells: (row: Row) => readonly string[];
}

/**
 * Lists a catalog: as a table, or as JSON with every field. Errors of what cannot be read are reported on standard
 * error, and it is left out.
 *
 * @throws PipelineError `usage` for a package that the catalog does not have
 */
async function listRows<Row extends { readonly package: string }>(
  invocation: Invocation,
  terminal: Terminal,
  { rows, titles, cells }: Listing<Row>,
): Promise<ExitCode> {
  const { operands, text, flag } = invocation;
  const [read] = await readOperands(operands, invocation, terminal);
  // Each operand gives one catalog: there is always one.
  if (!read) return 2;
  const wanted = text('package');
  if (wanted !== undefined && !read.catalog.packages.has(wanted)) throw noPackage(wanted, [read.catalog]);
  const errors = read.unread.filter(({ severity }) => severity === 'error');
  for (const finding of errors) terminal.err(findingText(finding));
  const found = rows(read.catalog).filter((row) => wanted === undefined || row.package === wanted);
  await terminal.out(
    flag('json') ? `${JSON.stringify(found, null, 2)}\n` : tableText(titles, found.map(cells), terminal),
  );
  return errors.length > 0 ? 1 : 0;
}

export const packages: Command = {
  words: 'list packages',
  operands: 'DIR|REFERENCE',
  options: LIST_OPTIONS,
  examples: ['portolan list packages catalogs/v4.20'],
  run: (invocation, terminal) =>
    listRows(invocation, terminal, {
      rows: listPackages,
      titles: ['PACKAGE', 'DISPLAY NAME', 'DEFAULT CHANNEL', 'HEAD', 'CHANNELS', 'BUNDLES', 'DEPRECATED'],
      cells: (row) => [
        row.package,
        row.displayName,
        row.defaultChannel,
        row.head,
        String(row.channels),
        String(row.bundles),
        row.deprecated ?? '',
      ],
    }),
};

export const channels: Command = {
  words: 'list channels',
  operands: 'DIR|REFERENCE',
  options: LIST_OPTIONS,
  examples: ['portolan list channels catalogs/v4.20 --package etcd'],
  run: (invocation, terminal) =>
    listRows(invocation, terminal, {
      rows: listChannels,
      titles: ['PACKAGE', 'CHANNEL', 'HEAD', 'VERSION', 'ENTRIES', 'DEFAULT', 'DEPRECATED'],
      cells: (row) => [
        row.package,
        row.channel,
        row.head,
        row.version,
        String(row.entries),
        row.isDefault ? 'default' : '',
        row.deprecated ?? '',
      ],
    }),
};

export const bundles: Command = {
  words: 'list bundles',
  operands: 'DIR|REFERENCE',
  options: {
    ...LIST_OPTIONS,
    channel: { value: 'CHANNEL', description: 'only this channel' },
    provides: { value: 'KIND', description: 'only bundles that provide this kind of resource' },
    olmv1: { description: 'only bundles that OLM v1 can install with its default features' },
  },
  examples: [
    'portolan list bundles catalogs/v4.20 --package etcd --channel alpha',
    'portolan list bundles catalogs/v4.20 --olmv1 --json | jq -r ".[].image"',
  ],
  run: (invocation, terminal) => {
    const { text, flag } = invocation;
    const [channel, kind, onlyV1] = [text('channel'), text('provides'), flag('olmv1')];
    return listRows(invocation, terminal, {
      rows: (catalog) =>
        listBundles(catalog).filter(
          (row) =>
            (channel === undefined || row.channel === channel) &&
            (kind === undefined || row.provides.some((gvk) => isOfKind(gvk, kind))) &&
            (!onlyV1 || row.v1Obstacles.length === 0),
        ),
      titles: [
        'PACKAGE',
        'CHANNEL',
        'BUNDLE',
        'VERSION',
        'REPLACES',
        'SKIPS',
        'SKIP RANGE',
        'NOTES',
        'IMAGE',
      ],
      cells: (row) => [
        row.package,
        row.channel,
        row.bundle,
        row.version,
        row.replaces,
        row.skips.join(', '),
        row.skipRange,
        [
          ...(row.isHead ? ['head'] : []),
          ...(row.deprecated === undefined ? [] : ['deprecated']),
          ...(row.v1Obstacles.length > 0 ? ['not for OLM v1'] : []),
        ].join(', '),
        row.image,
      ],
    });
  },
};

/** Whether what is provided, `Kind (group/version)`, is of a kind: by all of it, or by the kind alone. */
function isOfKind(gvk: string, kind: string): boolean {
  const [wanted, found] = [kind.toLowerCase(), gvk.toLowerCase()];
  return found === wanted || found.startsWith(`${wanted} (`);
}
