/** Waivers: findings that the policy lets pass until a day, each with its reason. */
import type { Finding } from '../../catalog/finding.ts';
import { matchesGlob } from '../text.ts';
import type { Waiver } from './policy.ts';

export interface Waived {
  /** What still counts. */
  readonly findings: readonly Finding[];
  readonly waived: readonly { readonly finding: Finding; readonly waiver: Waiver }[];
  /** Waivers whose last day has passed: they let nothing pass any more. */
  readonly expired: readonly Waiver[];
}

/**
 * Sorts out the findings that waivers let pass.
 *
 * @param today the day in UTC, `YYYY-MM-DD`
 */
export function applyWaivers(
  findings: readonly Finding[],
  waivers: readonly Waiver[],
  today: string,
): Waived {
  const valid = waivers.filter(({ until }) => until >= today);
  const counting: Finding[] = [];
  const waived: { finding: Finding; waiver: Waiver }[] = [];
  for (const finding of findings) {
    const { left, waiver } = unwaivedPart(finding, valid);
    if (left) counting.push(left);
    if (waiver) waived.push({ finding, waiver });
  }
  return { findings: counting, waived, expired: waivers.filter(({ until }) => until < today) };
}

/**
 * What waivers leave of a finding: of several catalogs, those that no waiver names.
 *
 * @returns nothing left where all of it is waived, with the first waiver that names one of its catalogs; no waiver where none
 *   does
 */
function unwaivedPart(
  finding: Finding,
  waivers: readonly Waiver[],
): { left: Finding | undefined; waiver: Waiver | undefined } {
  const fitting = waivers.filter((one) => one.rule === finding.rule && one.package === finding.package);
  const forAll = fitting.find(({ catalog }) => catalog === undefined);
  if (forAll) return { left: undefined, waiver: forAll };
  const catalogs = finding.catalogs ?? [];
  const isNamed = ({ catalog = '' }: Waiver, name: string): boolean => matchesGlob(catalog, name);
  const waiver = fitting.find((one) => catalogs.some((name) => isNamed(one, name)));
  if (!waiver) return { left: finding, waiver };
  const left = catalogs.filter((name) => !fitting.some((one) => isNamed(one, name)));
  return { left: left.length === 0 ? undefined : { ...finding, catalogs: left }, waiver };
}
