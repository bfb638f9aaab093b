import type { Catalog } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { RULES } from './index.ts';
import { runRules } from './rule.ts';

/**
 * Whether `opm serve` starts with a catalog: one invalid package keeps all of them from
 * being served.
 *
 * @param unread what was found when the catalog was loaded
 */
export function isServed(catalog: Catalog, unread: readonly Finding[]): boolean {
  return refusals(catalog, unread).length === 0;
}

/** The findings for which `opm serve` refuses a catalog. */
export function refusals(catalog: Catalog, unread: readonly Finding[]): Finding[] {
  const rules = RULES.filter(({ opm }) => opm !== undefined);
  const ids = new Set(rules.map(({ id }) => id));
  const found = unread.filter(({ rule, severity }) => severity === 'error' && ids.has(rule));
  return [...found, ...runRules(catalog, rules)];
}
