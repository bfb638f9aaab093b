import { listBundles } from '../../../catalog/olm/listing.ts';
import type { Command } from '../command.ts';
import { LIST_OPTIONS, list } from './list.ts';

export const command: Command = {
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
    return list(invocation, terminal, {
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
