/**
 * Suggestions: corrections as whole lines, for lines that the pull request itself writes. Lines are those of
 * the head, so a file that the merge changes further has none.
 */

import type { Correction, Finding } from '../../catalog/finding.ts';
import { correctedLine } from '../../catalog/yaml/correction.ts';
import type { Change } from '../change/change.ts';
import { mergeBases } from '../git/merge.ts';
import { runGit } from '../git/process.ts';
import type { Repository } from '../git/repository.ts';
import { entryAt } from '../git/tree.ts';
import { plainText } from '../text.ts';

/** A line of the head, and what should stand there. */
export interface Suggestion {
  readonly rule: string;
  readonly message: string;
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly before: string;
  /** One line or more. */
  readonly after: string;
}

/** Most suggestions for one pull request: who gets more of them is better served by the local command. */
const MOST_SUGGESTIONS = 20;

interface Suggesting {
  readonly base: string;
  readonly head: string;
  readonly ancestor?: string;
  readonly change: Change;
  readonly findings: readonly Finding[];
}

/** The corrections that can be offered at lines of the pull request. @throws PipelineError as the reading of objects */
export async function suggestionsFor(
  repository: Repository,
  { base, head, change, findings, ...given }: Suggesting,
): Promise<Suggestion[]> {
  const correctable = findings.flatMap((one) =>
    one.correction ? [{ ...one, correction: one.correction }] : [],
  );
  if (correctable.length === 0) return [];
  // Of several common ancestors any one serves, if it is always the same one.
  const ancestor = given.ancestor ?? (await mergeBases(repository, base, head)).sort()[0];
  if (ancestor === undefined) return [];
  const linesOf = linesReader(repository, { ancestor, head });
  const suggestions: Suggestion[] = [];
  for (const finding of correctable) {
    for (const file of filesAlike(change, finding.correction.location.file)) {
      if (suggestions.length === MOST_SUGGESTIONS) return suggestions;
      const suggestion = suggestionOf(finding, file, await linesOf(file));
      if (suggestion) suggestions.push(suggestion);
    }
  }
  return suggestions;
}

type Correctable = Finding & { readonly correction: Correction };

/** A file of the merged tree, by path and id. */
interface MergedFile {
  readonly path: string;
  readonly id: string;
}

/** The changed file at a path, and all others with the same content: they are corrected alike. */
function filesAlike({ paths }: Change, path: string): MergedFile[] {
  const id = paths.find((one) => one.path === path)?.after?.id;
  return paths.flatMap(({ path: other, after }) =>
    after && after.id === id ? [{ path: other, id: after.id }] : [],
  );
}

interface HeadLines {
  readonly lines: readonly string[];
  /** Numbers of the lines that the pull request writes. */
  readonly own: (line: number) => boolean;
}

/**
 * The correction of a finding as a suggestion for its line; undefined if the pull request has not written the line, or if
 * the text has hidden characters.
 */
function suggestionOf(
  { rule, message, correction }: Correctable,
  { path }: MergedFile,
  head: HeadLines | undefined,
): Suggestion | undefined {
  const { line } = correction.location;
  const before = head?.lines[line - 1];
  if (before === undefined || !head?.own(line)) return undefined;
  const after = correctedLine(before, correction);
  // Do not offer hidden text as a suggestion that one click applies.
  if (
    after === undefined ||
    plainText(before) !== before ||
    after.split('\n').some((line) => plainText(line) !== line)
  )
    return undefined;
  return { rule, message, file: path, line, before, after };
}

/**
 * Reads the lines of files at the head, each once, and which of them the pull request has written. Undefined if the merge
 * changed the file.
 */
function linesReader(
  repository: Repository,
  { ancestor, head }: { readonly ancestor: string; readonly head: string },
): (file: MergedFile) => Promise<HeadLines | undefined> {
  const { objects } = repository;
  const known = new Map<string, Promise<HeadLines | undefined>>();
  const read = async ({ path, id }: MergedFile): Promise<HeadLines | undefined> => {
    const [before, after] = await Promise.all([
      entryAt(objects, ancestor, path),
      entryAt(objects, head, path),
    ]);
    // The merge changed the file: its lines are not those of the head.
    if (after?.id !== id) return undefined;
    const lines = (await objects.read(id)).bytes.toString('utf8').split('\n');
    return { lines, own: before ? await writtenLines(repository, before.id, id) : () => true };
  };
  return (file) => {
    const lines = known.get(file.path) ?? read(file);
    known.set(file.path, lines);
    return lines;
  };
}

/** Tells which lines of a blob an older one does not have. */
async function writtenLines(
  { settings, scratch, objects }: Repository,
  before: string,
  after: string,
): Promise<(line: number) => boolean> {
  await objects.prefetch([before]);
  const run = { settings, directory: scratch, bare: true };
  const options = ['--no-ext-diff', '--no-textconv', '--no-color', '--text', '--unified=0'];
  const { output } = await runGit(run, ['diff', ...options, before, after]);
  // Only the headers of hunks are read, which are ASCII whatever the lines are. A line feed alone ends a line: what follows
  // a carriage return is still the author's text.
  const ranges = output
    .toString('latin1')
    .split('\n')
    .flatMap((line) => {
      const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
      return from === undefined ? [] : [{ from: Number(from), count: Number(count) }];
    });
  return (line) => ranges.some(({ from, count }) => line >= from && line < from + count);
}
