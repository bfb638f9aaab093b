/** Suggests lines for a policy that silence the intended errors of a rule. */
import { CORE_SCHEMA, dump } from 'js-yaml';
import type { Finding } from '../../../catalog/finding.ts';
import { OPM_RULES } from '../../../catalog/rules/opm.ts';
import { RULE_IDS } from '../../policy/rule-ids.ts';

/** Proposals, none of which is made without somebody who looked at the findings. */
export interface ProposedSettings {
  /** Keys of a policy, as YAML; empty when there is nothing to silence. */
  readonly policy: string;
  /** The findings that each line silences. */
  readonly lines: readonly {
    readonly rule: string;
    readonly setting: string;
    readonly errors: number;
    readonly merges: number;
  }[];
}

/** Channels whose versions come and go by intention, by the words in their names. */
const PASSING = ['nightly', 'candidate', 'dev', 'alpha', 'preview', 'snapshot'];

/** Rules to fix, not to silence: the files cannot be read, or no other rule would check them. */
const UNREAD = /^(?:fbc|layout|path|policy)\//;

/** As well as these: opm serves no package of a catalog that has such an error. */
const REFUSED_BY_OPM: ReadonlySet<string> = new Set(
  OPM_RULES.filter(({ severity }) => severity === 'error').map(({ id }) => id),
);

/** For how many packages a waiver each is less than a rule that observes only. */
const MOST_WAIVERS = 2;

/** How many merges make a practice. Nobody signs a waiver for months because of what happened once or twice. */
const PRACTICE = 3;

/** If bundles change before their release, no rule needs to be silenced. */
const UNRELEASED =
  '# If bundles change before their release, say what is released: graph: {released: …} (docs/policy.md#graph)';

/** Months that a waiver lasts. */
const WAIVED_MONTHS = 3;

/**
 * The narrowest setting by rule that a practice breaks: the channels that are meant to change, else waivers for few packages, else a rule
 * that observes only.
 *
 * @param merges the errors of each merge
 * @param today the day from which waivers last, `YYYY-MM-DD`
 */
export function proposedSettings(merges: readonly (readonly Finding[])[], today: string): ProposedSettings {
  const all = merges.flat();
  const errorsOf = (id: string): Finding[] => all.filter(({ rule }) => rule === id);
  const mergesOf = (id: string): number => merges.filter((one) => one.some(({ rule }) => rule === id)).length;
  const rules = [...new Set(all.map(({ rule }) => rule))]
    .filter((id) => RULE_IDS.includes(id) && !UNREAD.test(id) && !REFUSED_BY_OPM.has(id))
    .filter((id) => mergesOf(id) >= PRACTICE || passingPatterns(errorsOf(id)) !== undefined)
    .sort();
  const settings: Record<string, object> = {};
  const waivers: object[] = [];
  const lines = rules.map((rule) => {
    const errors = errorsOf(rule);
    const counts = { rule, errors: errors.length, merges: mergesOf(rule) };
    const patterns = passingPatterns(errors);
    if (patterns) {
      settings[rule] = { allowChannels: patterns };
      return { ...counts, setting: inOneLine(settings[rule]) };
    }
    const packages = [...new Set(errors.map((finding) => finding.package ?? ''))];
    // A waiver names a package: a finding of none, or of an invalid name, cannot have one.
    if (packages.length <= MOST_WAIVERS && packages.every((name) => /^[a-z0-9.-]+$/.test(name))) {
      const until = laterBy(today, WAIVED_MONTHS);
      for (const name of packages)
        waivers.push({ rule, package: name, until, reason: 'say why it is intended' });
      return { ...counts, setting: `a waiver for ${packages.join(' and ')}` };
    }
    settings[rule] = { enforce: 'off' };
    return { ...counts, setting: inOneLine(settings[rule]) };
  });
  const parts = [
    ...(rules.includes('graph/bundle-mutated') ? [`${UNRELEASED}\n`] : []),
    ...(Object.keys(settings).length > 0 ? [dump({ rules: settings }, { ...STYLE, flowLevel: 2 })] : []),
    ...(waivers.length > 0 ? [dump({ waivers }, { ...STYLE, flowLevel: 2 })] : []),
  ];
  return { policy: parts.join(''), lines };
}

/** A policy is YAML 1.2, in which `off` and dates are texts. */
const STYLE = { schema: CORE_SCHEMA, lineWidth: -1, seqNoIndent: true } as const;

function inOneLine(value: object): string {
  return dump(value, { ...STYLE, flowLevel: 0 }).trimEnd();
}

/** Patterns that cover the channels of all findings, if all are channels that are meant to change. */
function passingPatterns(errors: readonly Finding[]): string[] | undefined {
  const words = errors.map(({ channel = '' }) => PASSING.find((word) => channel.includes(word)));
  return words.includes(undefined) ? undefined : [...new Set(words)].map((word) => `*${word}*`);
}

/** The day (`YYYY-MM-DD`) so many months later; the last of its month if the month is shorter. */
function laterBy(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))).toISOString().slice(0, 10);
}
