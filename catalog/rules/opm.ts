/** opm's own rules: exactly the errors of `opm validate`. Apart from the other rules, which commands that run these alone need not load. */

import { type Blobs, catalogOf } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { CATALOG_RULES } from './catalog.ts';
import { type Rule, runRules } from './rule.ts';

export const OPM_RULES: readonly Rule[] = CATALOG_RULES.filter(({ opm }) => opm !== undefined);

/** Findings of opm's rules; a catalog without any is one that opm serves. */
export function opmFindings(blobs: Blobs): Finding[] {
  return runRules(catalogOf(blobs), OPM_RULES);
}
