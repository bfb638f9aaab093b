/**
 * Findings as lines of text, for people and for logs.
 */
import type { Finding, Location } from '../catalog/finding.ts';

/** One finding: where, how bad, which rule, what; below it what to do. */
export function findingText(finding: Finding): string {
  const where = placeText(finding.location);
  const catalogs = finding.catalogs && finding.catalogs.length > 1 ? ` [${finding.catalogs.join(', ')}]` : '';
  const clusters = clustersText(finding);
  const line = `${where === '' ? '' : `${where}: `}${finding.severity}: ${finding.message} (${finding.rule})${catalogs}${clusters}`;
  return linesText(finding.hint === undefined ? [line] : [line, `    fix: ${finding.hint}`]);
}

/** ` [312 clusters]`, where a fleet is known. */
export function clustersText({ clusters }: Pick<Finding, 'clusters'>): string {
  return clusters === undefined
    ? ''
    : ` [${clusters.toLocaleString('en-US')} ${clusters === 1 ? 'cluster' : 'clusters'}]`;
}

/**
 * Lines of text, each with its end. It takes lines, never a text that is split again: a value that has a line break
 * stays one line, and no line is a command for the log of a workflow (`::error::`, `##[group]`).
 */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${withoutCommand(plainText(line))}\n`).join('');
}

/** A line that no log takes for a command such as `::error::`: its first colon is escaped, as in JSON, if it begins with two. */
function withoutCommand(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\\u003a');
}

/** `FILE:LINE:COLUMN`, the file alone for a finding about all of it, nothing for one without a file. */
export function placeText({ file, line, column }: Location): string {
  return isWhole({ file, line, column }) ? plainText(file) : `${plainText(file)}:${line}:${column}`;
}

/** `FILE:LINE`, otherwise as {@link placeText}. */
export function fileLineText(location: Location): string {
  return isWhole(location) ? plainText(location.file) : `${plainText(location.file)}:${location.line}`;
}

/** The first character stands for the whole file, and for no place at all where there is no file. */
function isWhole({ file, line, column }: Location): boolean {
  return file === '' || (line === 1 && column === 1);
}

/** `3 errors, 1 warning`. */
export function countText(findings: readonly Finding[]): string {
  const counts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    if (count === 0) return [];
    return [`${count} ${severity}${count === 1 || severity === 'info' ? '' : 's'}`];
  });
  return counts.length === 0 ? 'no findings' : counts.join(', ');
}

/** The longest list that is written out. */
const LISTED = 6;

/** Versions, or other things, in their order; of a long list the first and the last. */
export function shortList(names: readonly string[], things = 'versions'): string {
  if (names.length <= LISTED) return names.join(', ');
  // Three tell what kind of names they are, and the last one where they end.
  return `${names.slice(0, 3).join(', ')} … ${names.at(-1)} (${names.length} ${things})`;
}

/** `1 package`, `2 packages`. */
export function amountText(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/**
 * Characters that nobody sees, or that control what others look like: control characters, marks of direction, line separators,
 * halves of characters, and those that Unicode calls ignorable or no characters, but for joiners and selectors in emoji.
 */
const UNSEEN =
  /(?<!\p{Extended_Pictographic}\ufe0f?)[\u200d\ufe0e\ufe0f]|(?![\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Whether a text has such a character. */
export function hasUnseen(text: string): boolean {
  return text.search(UNSEEN) >= 0;
}

/** Commands that a log takes anywhere in a line: `##[group]` (GitHub), `##vso[task.setvariable]` (Azure), `##teamcity[buildStop]`. */
const COMMAND = /##([a-z]*)\[/gi;

/**
 * Text of a catalog that can do nothing to a terminal or a log, and hides nothing: {@link UNSEEN} is escaped, and what the
 * log of a workflow takes for a command anywhere in a line.
 *
 * @see https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
 */
export function plainText(text: string): string {
  return text.replaceAll(UNSEEN, escaped).replaceAll(COMMAND, '#\\u0023$1[');
}

/**
 * Makes texts that follow each other safe for the log of a workflow: no line begins with `::`, and none has `##[` or `##NAME[`, unless
 * it has one half from each of two texts. Both escapes mean the same within JSON.
 */
export function logSafe(): (text: string) => string {
  let isStart = true;
  return (text) => {
    const beginsLine = (at: number): boolean => {
      let i = at - 1;
      while (i >= 0 && /[^\S\n\r]/.test(text.charAt(i))) i--;
      return i < 0 ? isStart : /[\n\r]/.test(text.charAt(i));
    };
    const safe = text
      .replaceAll('::', (colons, at: number) => (beginsLine(at) ? '\\u003a:' : colons))
      .replaceAll(COMMAND, '#\\u0023$1[');
    isStart = beginsLine(text.length);
    return safe;
  };
}

/**
 * A text with characters that cannot be seen, or that act on a terminal, escaped. Line breaks, carriage returns (which redraw a
 * line of progress) and tabs stay.
 */
export function screenText(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    /[\n\r\t]/.test(character) ? character : escaped(character),
  );
}

/** A text of several lines with characters that cannot be seen escaped. Line breaks and tabs stay. */
export function plainLines(text: string): string {
  return text.replaceAll(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text for XML or HTML, in an element or an attribute: characters that cannot be seen, or that have a meaning, are
 * escaped.
 */
export function escapeXml(text: string): string {
  return plainText(text).replaceAll(/[&<>"']/g, (c) => ENTITIES[c] ?? c);
}

/** A character as JSON escapes it. */
function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** Milliseconds. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of up to 9999 minutes, hours or days, such as `90m`, `72h` or `7d`; undefined for every other text. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(0|[1-9]\d{0,3})([mhd])$/.exec(text) ?? [];
  const each = UNITS[unit];
  return each === undefined ? undefined : Number(count) * each;
}

/** A text of so many characters at most: of a longer one the beginning, with `…` as the last character. */
export function shortenedText(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/**
 * Whether a text matches a pattern in which `*` stands for anything. It never goes back in the text, so many stars cost no
 * more than few: a pull request may bring the pattern and the text.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  // The first place of each part leaves the most text for those that follow.
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  // The end of the text may not be a part that was found already.
  return text.length - at >= last.length && text.endsWith(last);
}
