/** Judges merges by the oracle and by the rules, and counts them by class of harm and by rule. */
import fc from 'fast-check';
import type { Finding } from '../../catalog/finding.ts';

import type { FindingsOf } from './graph-rules.ts';
import { HARMS, type WorseOff, worseOff, worseOffElsewhere } from './oracle.ts';
import { type Story, statesOf, story as stories } from './story.ts';

/** A merge, who is worse off after it, and what the rules say. */
export interface Judged {
  readonly story: Story;
  readonly worse: readonly WorseOff[];
  readonly findings: readonly Finding[];
}

/** @param findingsOf the rules that are judged */
export async function judge(story: Story, findingsOf: FindingsOf): Promise<Judged> {
  const states = statesOf(story);
  const worse = worseOff(states.slice(0, -1), states.at(-1) ?? {});
  return { story, worse, findings: await findingsOf(states) };
}

export function errorsIn({ findings }: Judged): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}

/** What breaks a law; undefined if nothing does. */
export function violationOf(judged: Judged): string | undefined {
  const errors = errorsIn(judged);
  const hard = judged.worse.find(({ harm }) => HARMS[harm] === undefined);
  if (hard) return errors.length === 0 ? `missed: ${hard.harm}` : undefined;
  const [error] = errors;
  if (error && !harmsElsewhere(judged)) return `false alarm: ${error.rule}`;
  const rules = new Set(judged.findings.map(({ rule }) => rule));
  const unwarned = judged.worse.filter(({ harm }) => !rules.has(HARMS[harm] ?? ''));
  if (unwarned.length === 0) return undefined;
  // What is made possible here by what is required may have been possible before with another catalog.
  const elsewhere = new Set(worseElsewhere(judged).map(({ harm }) => harm));
  const sure = unwarned.find(({ harm }) => elsewhere.has(harm));
  return sure && `not warned of: ${sure.harm}`;
}

/** Whether somebody is worse off if another catalog has what is required: no check knows that. */
function harmsElsewhere(judged: Judged): boolean {
  return worseElsewhere(judged).some(({ harm }) => HARMS[harm] === undefined);
}

function worseElsewhere({ story }: Judged): WorseOff[] {
  const states = statesOf(story);
  return worseOffElsewhere(states.slice(0, -1), states.at(-1) ?? {});
}

/** How many merges have each class of harm, and how many each rule, as a table of Markdown. */
export function tableOf(all: readonly Judged[]): string {
  const rows = [
    ...counted(all, ({ worse }) => (worse.length === 0 ? ['nobody'] : worse.map(({ harm }) => harm))).map(
      (row) => ['worse off', ...row],
    ),
    ...(['error', 'warning', 'note'] as const).flatMap((severity) =>
      counted(all, ({ findings }) =>
        findings.filter((one) => one.severity === severity).map(({ rule }) => rule),
      ).map((row) => [severity, ...row]),
    ),
    ...counted(all, (one) => [violationOf(one) ?? 'none']).map((row) => ['violation', ...row]),
    ['all', 'merges', all.length],
    ['all', 'distinct merges that change something', new Set(all.flatMap(changeIn)).size],
  ];
  return [
    '| kind | class or rule | merges |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n');
}

/** A merge with all that came before it; nothing if it changes nothing. */
function changeIn({ story }: Judged): string[] {
  const states = statesOf(story).map((state) => JSON.stringify(state));
  return states.at(-1) === states.at(-2) ? [] : [states.join('\n')];
}

/** How many merges have each of some classes, the most frequent first. */
function counted(all: readonly Judged[], classesOf: (one: Judged) => readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const one of all)
    for (const name of new Set(classesOf(one))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** A merge that breaks the same law as one of a seed's sample, as small as it can be. */
export async function smallest(
  { seed, number }: { readonly seed: number; readonly number: number },
  findingsOf: FindingsOf,
): Promise<Judged> {
  const { [number]: one } = fc.sample(stories, { seed, numRuns: number + 1 });
  if (!one) throw new Error(`seed ${seed} has no merge ${number}`);
  const found = await judge(one, findingsOf);
  const law = violationOf(found);
  const holds = fc.asyncProperty(
    stories,
    async (story) => violationOf(await judge(story, findingsOf)) !== law,
  );
  const { counterexample } = await fc.check(holds, { seed, path: String(number), numRuns: 1 });
  return counterexample?.[0] ? judge(counterexample[0], findingsOf) : found;
}

/** The states of a merge, as far as they differ from those before, who is worse off, and what the rules say. */
export function textOf({ story, worse, findings }: Judged): string {
  const states = statesOf(story).map((state) =>
    Object.entries(state).map(([name, packages]) => `  ${name} ${JSON.stringify(packages)}`),
  );
  return [
    ...states.flatMap((state, i) => [
      `state ${i}`,
      ...state.filter((catalog) => !states[i - 1]?.includes(catalog)),
      ...(states[i - 1] ?? []).slice(state.length).map((catalog) => `  fewer: ${catalog.slice(0, 8)}`),
    ]),
    ...worse.map((one) => `worse off: ${Object.values(one).join(' ')}`),
    ...findings.map(({ severity, rule, message }) => `${severity} ${rule}: ${message}`),
  ].join('\n');
}
