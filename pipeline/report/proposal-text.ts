/** The bodies of pull requests that Portolan proposes, as Markdown. */

import { compareFindings, type Finding } from '../../catalog/finding.ts';
import type { Promotion } from '../check/proposals/promotion.ts';
import type { MovedTag, Repinned } from '../check/proposals/repin.ts';
import { fileLineText } from '../text.ts';
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, codeSpan, escapedMarkdown } from './markdown.ts';

/**
 * The text of a pull request that updates pins: the tags that moved, and what somebody must change by hand.
 */
export function pinsBody(catalog: string, { moved, left }: Pick<Repinned, 'moved' | 'left'>): string {
  const rows = moved.map(({ tag, before, after }: MovedTag) => {
    return `| ${codeSpan(tag)} | ${before === undefined ? 'not locked' : codeSpan(before)} | ${codeSpan(after)} |`;
  });
  const table = ['| tag | before | after |', '|---|---|---|', ...rows].join('\n');
  const rest = left.map(
    ({ location, message, hint = '' }) =>
      `- ${codeSpan(fileLineText(location))} ${escapedMarkdown(message)} ${codeSpan(hint)}`,
  );
  return withinBudget(
    [
      {
        text: `Some tags that ${escapedMarkdown(catalog)} is pinned to name other images now. Merging this pull request updates the pins.`,
      },
      { text: moved.length === 0 ? '' : table, cuttable: true },
      { text: rest.length === 0 ? '' : ['Change these by hand:', '', ...rest].join('\n'), cuttable: true },
    ],
    COMMENT_BYTES,
  );
}

interface ReleaseText {
  readonly package: string;
  readonly version: string;
  /** By digest. */
  readonly image: string;
  readonly paths: readonly string[];
}

/** The text of a pull request that adds a released bundle to catalogs. */
export function releaseBody({ package: name, version, image, paths }: ReleaseText): string {
  const first = `${escapedMarkdown(name)} ${escapedMarkdown(version)} was merged. Its image is ${codeSpan(image)}.`;
  const files = paths.map((path) => `- ${codeSpan(path)}`);
  const what = `Its ${codeSpan('release-config.yaml')} changes these files:`;
  return withinBudget(
    [{ text: first }, { text: [what, '', ...files].join('\n'), cuttable: true }],
    COMMENT_BYTES,
  );
}

interface RollbackText {
  readonly catalog: string;
  /** Id of the commit that the catalog is reverted to. */
  readonly to: string;
  readonly findings: readonly Finding[];
}

/** The body of a pull request that reverts a catalog, as Markdown, with the worst findings first. */
export function rollbackBody({ catalog, to, findings }: RollbackText): string {
  const { rows, table } = findingTable(findings);
  const first = `This reverts ${escapedMarkdown(catalog)} to commit ${to}. Merging it publishes a new image, newer than every image since that commit.`;
  const accepted =
    'The revert has these effects on clusters that installed a version added since. The person who proposed it accepted them; merging it accepts them, too.';
  return withinBudget(
    [{ text: first }, ...(rows.length === 0 ? [] : [{ text: accepted }, { text: table, cuttable: true }])],
    COMMENT_BYTES,
  );
}

interface PromotionText {
  readonly from: string;
  readonly to: string;
  readonly promoted: readonly Promotion[];
  /** What is news for clusters. */
  readonly findings: readonly Finding[];
}

/** The text of a pull request that promotes packages. */
export function promotionBody({ from, to, promoted, findings }: PromotionText): string {
  const { rows, table } = findingTable(findings);
  const packages = promoted.map(
    ({ package: name, owners, strategy }) =>
      `- ${codeSpan(name)} (${strategy}${owners.length === 0 ? '' : `, owned by ${owners.map(codeSpan).join(', ')}`})`,
  );
  const first = `This copies packages of ${escapedMarkdown(from)} to ${escapedMarkdown(to)}, and adds ${escapedMarkdown(to)} to their ${codeSpan('ci.yaml')}.`;
  const effect =
    rows.length === 0
      ? 'Portolan found no effect on clusters that it would report.'
      : 'The effect on clusters:';
  return withinBudget(
    [
      { text: [first, '', ...packages].join('\n'), cuttable: true },
      { text: effect },
      ...(rows.length === 0 ? [] : [{ text: table, cuttable: true }]),
      {
        text: `To keep a package out, set ${codeSpan('fbc.version_promotion_strategy: never')} in its ${codeSpan('ci.yaml')}.`,
      },
    ],
    COMMENT_BYTES,
  );
}

/** Findings as a table, the worst first. */
function findingTable(findings: readonly Finding[]): { rows: string[]; table: string } {
  const rows = [...findings]
    .sort(compareFindings)
    .map(
      ({ severity, rule, message, hint = '' }) =>
        `| ${severity} | ${escapedMarkdown(message)} | ${escapedMarkdown(hint)} | ${codeSpan(rule)} |`,
    );
  return { rows, table: ['| severity | finding | fix | rule |', '|---|---|---|---|', ...rows].join('\n') };
}
