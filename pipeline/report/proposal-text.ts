/** The bodies of pull requests that Portolan proposes, as Markdown. */

import { compareFindings, type Finding } from '../../catalog/finding.ts';
import type { MovedTag, Repinned } from '../check/repin.ts';
import { fileLineText } from '../text.ts';
import { withinBudget } from './budget.ts';
import { COMMENT_BYTES, code, escaped } from './markdown.ts';

/** For new pins. */
export function pinsBody(catalog: string, { moved, left }: Pick<Repinned, 'moved' | 'left'>): string {
  const rows = moved.map(({ tag, before, after }: MovedTag) => {
    return `| ${code(tag)} | ${before === undefined ? 'not locked' : code(before)} | ${code(after)} |`;
  });
  const table = ['| tag | was | is |', '|---|---|---|', ...rows].join('\n');
  const rest = left.map(
    ({ location, message, hint = '' }) =>
      `- ${code(fileLineText(location))} ${escaped(message)} ${code(hint)}`,
  );
  return withinBudget(
    [
      {
        text: `Tags that ${escaped(catalog)} is pinned from stand for other images now. Merging this takes them.`,
      },
      { text: moved.length === 0 ? '' : table, cuttable: true },
      { text: rest.length === 0 ? '' : ['To be written by hand:', '', ...rest].join('\n'), cuttable: true },
    ],
    COMMENT_BYTES,
  );
}

export interface ReleaseText {
  readonly package: string;
  readonly version: string;
  /** By digest. */
  readonly image: string;
  readonly paths: readonly string[];
}

/** For a bundle that is added to catalogs. */
export function releaseBody({ package: name, version, image, paths }: ReleaseText): string {
  const first = `${escaped(name)} ${escaped(version)} was merged; its image is ${code(image)}.`;
  const files = paths.map((path) => `- ${code(path)}`);
  const what = `What its ${code('release-config.yaml')} makes of the catalogs:`;
  return withinBudget(
    [{ text: first }, { text: [what, '', ...files].join('\n'), cuttable: true }],
    COMMENT_BYTES,
  );
}

export interface RollbackText {
  readonly catalog: string;
  /** Id of the commit that is gone back to. */
  readonly to: string;
  readonly findings: readonly Finding[];
}

/** The body, as Markdown: who is stranded first. */
export function rollbackBody({ catalog, to, findings }: RollbackText): string {
  const rows = [...findings]
    .sort(compareFindings)
    .map(
      ({ severity, rule, message, hint = '' }) =>
        `| ${severity} | ${escaped(message)} | ${escaped(hint)} | ${code(rule)} |`,
    );
  const table = ['| | what | what to do | rule |', '|---|---|---|---|', ...rows].join('\n');
  const first = `${escaped(catalog)} as ${to} had it. It is a new publish, after all that came since.`;
  const accepted =
    'What the way back does to clusters that installed what came since. Whoever proposed it has accepted that; whoever merges it does, too.';
  return withinBudget(
    [{ text: first }, ...(rows.length === 0 ? [] : [{ text: accepted }, { text: table, cuttable: true }])],
    COMMENT_BYTES,
  );
}
