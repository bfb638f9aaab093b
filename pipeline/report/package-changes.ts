/** The changes in a package's files: defaults, heads, entries and edges by channel. */
import type { BundleDiff, ChannelDiff, EdgeDiff, Pair } from '../../catalog/olm/diff.ts';
import type { PlacedDiff } from '../check/report.ts';

/** Most lines of one list. */
const SHOWN = 40;

/** One line for each change; changes of a channel are indented below it. */
export function writtenLines({ defaultChannel, channels, bundles, deprecations }: PlacedDiff): string[] {
  return [
    ...(defaultChannel ? [`default channel: ${pairText(defaultChannel)}`] : []),
    ...channels.flatMap(channelLines),
    ...bundleLines(bundles),
    ...deprecations.map(({ kind, of, message }) => `deprecation of ${of} ${kind}: ${message}`),
  ];
}

function pairText({ before, after }: Pair): string {
  return `${before === '' ? 'none' : before} -> ${after === '' ? 'none' : after}`;
}

/** A channel's line with its new head, and below it the entries and edges that come or go. */
function channelLines({ channel, kind, head, added, removed, edges }: ChannelDiff): string[] {
  const moved = head ? `: head ${pairText(head)}` : '';
  return [
    `channel ${channel}${kind === 'changed' ? '' : ` (${kind})`}${moved}`,
    ...shortened([
      ...removed.map((name) => `  - entry ${name}`),
      ...added.map((name) => `  + entry ${name}`),
      ...edges.map(edgeLine),
    ]),
  ];
}

function edgeLine({ kind, to, field, from }: EdgeDiff): string {
  return `  ${kind === 'added' ? '+' : '-'} ${to} ${field} ${from}`;
}

function bundleLines(bundles: readonly BundleDiff[]): readonly string[] {
  return shortened(
    bundles.map(
      ({ bundle, kind, fields }) =>
        `bundle ${bundle} ${kind}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    ),
  );
}

/** The first lines of a long list, and how many more there are. */
function shortened(lines: readonly string[]): readonly string[] {
  return lines.length > SHOWN ? [...lines.slice(0, SHOWN), `  … and ${lines.length - SHOWN} more`] : lines;
}
