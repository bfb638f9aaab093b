/**
 * What changes in packages, as text and as Markdown: defaults, heads, entries and edges
 * by channel, then what clusters will do otherwise.
 */
import type { BundleDiff, ChannelDiff, EdgeDiff, Pair } from '../../catalog/diff.ts';
import type { PlacedDiff } from '../check/judge.ts';
import { code, escaped, fatesTable } from './markdown.ts';
import { plain } from './text.ts';
import { fateLines } from './text-report.ts';

/** Most lines of one list. */
const SHOWN = 40;

export function diffText(diffs: readonly PlacedDiff[]): string {
  if (diffs.length === 0) return 'nothing changes\n';
  return diffs
    .map((diff) => {
      const title = `${plain(diff.package)} (${diff.kind}) in ${plain(diff.catalogs.join(', '))}`;
      const fates =
        diff.fates.length > 0 ? ['  What clusters will do otherwise:', ...fateLines(diff).slice(1)] : [];
      const lines = [title, ...writtenLines(diff).map((line) => `  ${plain(line)}`), ...fates];
      return `${lines.join('\n')}\n`;
    })
    .join('\n');
}

export function diffMarkdown(diffs: readonly PlacedDiff[]): string {
  if (diffs.length === 0) return 'Nothing changes.\n';
  const parts = diffs.flatMap((diff) => [
    diff.fates.length > 0
      ? fatesTable(diff)
      : `### ${escaped(diff.package)} (${escaped(diff.catalogs.join(', '))})`,
    writtenMarkdown(diff),
  ]);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** What is written otherwise, as a list. */
export function writtenMarkdown(diff: PlacedDiff): string {
  return writtenLines(diff)
    .map((line) => (line.startsWith('  ') ? `  - ${code(line.trim())}` : `- ${escaped(line)}`))
    .join('\n');
}

/** What is written otherwise: a line for each change, what belongs to a channel indented. */
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

function channelLines({ channel, kind, head, added, removed, edges }: ChannelDiff): string[] {
  const moved = head ? `: head ${pairText(head)}` : '';
  return [
    `channel ${channel}${kind === 'changed' ? '' : ` (${kind})`}${moved}`,
    ...cut([
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
  return cut(
    bundles.map(
      ({ bundle, kind, fields }) =>
        `bundle ${bundle} ${kind}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    ),
  );
}

function cut(lines: readonly string[]): readonly string[] {
  return lines.length > SHOWN ? [...lines.slice(0, SHOWN), `  … and ${lines.length - SHOWN} more`] : lines;
}
