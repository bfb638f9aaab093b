/**
 * Examples of rules, from their fixtures: what a rule reports, and the same file as the rule accepts it. The second is the
 * harmless twin of the first. In a bundle with edits it is the bundle without them; otherwise `<fixture>.fix` says what to
 * edit: lines to replace as in `edit` of bundles, or, for an archive, such an archive.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dump, load } from 'js-yaml';
import { type Finding, milderSeverity } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { bundleFiles, changedFiles, edited } from './bundle-fixture.ts';
import { archivedFiles, fixturesIn, judgeChange, judgeFiles, judgeState } from './rule-fixture.ts';
import { CUT, type Files, shownDifference } from './shown-difference.ts';
import { membersOf } from './txtar.ts';

/** Mappings on one line are not longer. */
const LONGEST_LINE = 100;

/** What a rule reports in a fixture, and the fix. */
export interface RuleExample {
  readonly fixture: string;
  readonly finding: Finding;
  /** What the reported change removes and adds; empty for what is no change. */
  readonly change: readonly string[];
  /** What the fix removes and adds; empty without one. */
  readonly fix: readonly string[];
  /** What is wrong after the fix: findings of the rule, and errors that there were none of before. */
  readonly wrong: readonly Finding[];
}

/** The shortest example of a rule, if it can be one with a fix. Undefined for rules without fixtures. */
export async function exampleOf(folder: string, id: string): Promise<RuleExample | undefined> {
  const length = ({ change, fix }: RuleExample): number => [...change, ...fix].join('\n').length;
  const all = [...(await examplesOf(folder, id))].sort(
    (a, b) =>
      compareSeverity(a.finding, b.finding) ||
      Number(isUnusual(a)) - Number(isUnusual(b)) ||
      Number(onlyRemoves(a)) - Number(onlyRemoves(b)) ||
      Number(b.change.length > 0) - Number(a.change.length > 0) ||
      length(a) - length(b),
  );
  return all.find(({ fix, wrong }) => fix.length > 0 && wrong.length === 0) ?? all[0];
}

function compareSeverity(a: Finding, b: Finding): number {
  if (a.severity === b.severity) return 0;
  return milderSeverity(a.severity, b.severity) === a.severity ? 1 : -1;
}

/** Letters beyond ASCII test readers of files: people would not write them. */
function isUnusual({ change, fix }: RuleExample): boolean {
  return [...change, ...fix].some((line) => /[^ -~]/.test(line));
}

/** A fix that only removes lines says least. */
function onlyRemoves({ fix }: RuleExample): boolean {
  return !fix.some((line) => line.startsWith('+'));
}

const examples = new Map<string, Promise<readonly RuleExample[]>>();

/** An example of each fixture in which the rule finds anything. */
export function examplesOf(folder: string, id: string): Promise<readonly RuleExample[]> {
  const known = examples.get(folder) ?? examplesIn(folder, id);
  examples.set(folder, known);
  return known;
}

async function examplesIn(folder: string, id: string): Promise<RuleExample[]> {
  const { states, changes, archives } = fixturesIn(folder);
  const found = [
    ...archives.map((file) => archiveExample(folder, file, id)),
    ...states.map((file) => stateExample(folder, file, id)),
    ...changes.map((file) => changeExample(folder, file, id)),
  ];
  return (await Promise.all(found)).filter((example) => example !== undefined);
}

async function archiveExample(folder: string, file: string, id: string): Promise<RuleExample | undefined> {
  const members = membersOf(read(folder, file));
  const options = members.get('options');
  const before = new Map([...archivedFiles(members)].map(([path, text]) => [path, plain(text)]));
  const after = fixedFiles(join(folder, `${file}.fix`), members, before);
  return example(id, {
    fixture: file,
    findings: await judgeFiles(before, options),
    known: await sampleFindings(),
    left: after && (await judgeFiles(after, options)),
    before,
    after,
  });
}

let ofSample: Promise<readonly Finding[]> | undefined;

/** What is found in the sample bundle. */
function sampleFindings(): Promise<readonly Finding[]> {
  ofSample ??= judgeFiles(bundleFiles(new Map()));
  return ofSample;
}

function fixedFiles(fix: string, members: Files, files: Files): Files | undefined {
  if (existsSync(fix)) return changedFiles(files, membersOf(readFileSync(fix, 'utf8')));
  const isSample = [...members.keys()].every((name) => /^(?:edit|remove) |^options$|expected$/.test(name));
  return isSample ? bundleFiles(new Map()) : undefined;
}

async function stateExample(folder: string, file: string, id: string): Promise<RuleExample | undefined> {
  const fixed = fixedText(folder, file);
  return example(id, {
    fixture: file,
    findings: await judgeState(folder, file),
    left: fixed === undefined ? undefined : await judgeState(folder, file, fixed),
    before: single(read(folder, file)),
    after: fixed === undefined ? undefined : single(fixed),
  });
}

async function changeExample(folder: string, base: string, id: string): Promise<RuleExample | undefined> {
  const head = base.replace('.base.', '.head.');
  const fixed = fixedText(folder, head);
  return example(id, {
    fixture: head,
    findings: await judgeChange(folder, base),
    left: fixed === undefined ? undefined : await judgeChange(folder, base, fixed),
    base: single(read(folder, base)),
    before: single(read(folder, head)),
    after: fixed === undefined ? undefined : single(fixed),
  });
}

/** A fixture before and after its fix, and what is found in both; for a change, its base. */
interface Judged {
  /** What is found in the sample bundle. */
  readonly known?: readonly Finding[];
  readonly fixture: string;
  readonly findings: readonly Finding[];
  readonly left: readonly Finding[] | undefined;
  readonly base?: Files;
  readonly before: Files;
  readonly after: Files | undefined;
}

/** Rules that nobody is held to unless a policy names them. */
const OPTIONAL = new Set(RULES.flatMap(({ id, isOptional }) => (isOptional ? [id] : [])));

function example(
  id: string,
  { fixture, findings, known = [], left = [], base, before, after }: Judged,
): RuleExample | undefined {
  const finding = findings.find(({ rule }) => rule === id);
  if (finding === undefined) return undefined;
  const earlier = new Set([...findings, ...known].map(({ rule }) => rule));
  const isWrong = ({ rule, severity }: Finding): boolean =>
    rule === id || (severity === 'error' && !earlier.has(rule) && !OPTIONAL.has(rule));
  const fix = after === undefined ? [] : shownDifference(before, after, finding.location);
  const change = base === undefined ? [] : shownDifference(base, before);
  // A part of a change does not say what the change is. A fix that takes it back says it by itself.
  const isTakenBack = isDeepStrictEqual(
    [lines(change, '-'), lines(change, '+')],
    [lines(fix, '+'), lines(fix, '-')],
  );
  const isShown = !change.includes(CUT) && !isTakenBack;
  return { fixture, finding, change: isShown ? change : [], fix, wrong: left.filter(isWrong) };
}

/** The lines of a difference with a sign. */
function lines(difference: readonly string[], sign: string): string[] {
  return difference.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
}

/** The text of a fixture with its fix; undefined without one. */
function fixedText(folder: string, file: string): string | undefined {
  const fix = join(folder, `${file}.fix`);
  return existsSync(fix) ? edited(plain(read(folder, file)), readFileSync(fix, 'utf8')) : undefined;
}

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}

/** The one file of a catalog. */
function single(text: string): Files {
  return new Map([['', readable(plain(text))]]);
}

/** A text without the comments that say what is expected. */
function plain(text: string): string {
  return text.replaceAll(/ *# [a-z0-9-]+\/[a-z0-9-]+: .*$/gm, '');
}

/** A text with bundles that are written on one line as people write them, and with the manifests in them decoded. */
function readable(text: string): string {
  return text
    .replaceAll(/^# (?:world|registries): .*\n/gm, '')
    .replaceAll(/^\{schema: olm\.bundle.*\}$/gm, (line) => {
      const [short = '', long = ''] = [3, -1].map((flowLevel) =>
        dump(decoded(load(line)), { lineWidth: -1, seqNoIndent: true, flowLevel }).trimEnd(),
      );
      return short.split('\n').every((written) => written.length <= LONGEST_LINE) ? short : long;
    });
}

function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === 'data' && typeof inner === 'string'
        ? ['data (in base64)', load(Buffer.from(inner, 'base64').toString())]
        : [key, decoded(inner)],
    ),
  );
}
