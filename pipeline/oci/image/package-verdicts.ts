/**
 * Checking a catalog package by package, so that what was checked before is not read again: the rules for
 * catalogs look at one package at a time.
 */

import type { LoadLimits } from '../../../catalog/fbc/load.ts';
import { blobCount } from '../../../catalog/fbc/model.ts';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import type { Rule, SeverityOf } from '../../../catalog/rules/rule.ts';
import { contentKey, type FactTable, type VerdictFacts } from './build-cache.ts';
import type { Contents, IdentifiedFile } from './packages.ts';

interface VerdictOptions {
  readonly rules: readonly Rule[];
  readonly severityOf: SeverityOf;
  readonly limits: LoadLimits;
}

/**
 * Checks all packages; those that did not change since an earlier build are not checked again.
 *
 * @returns what `checkCatalog` finds of the catalog, the worst first
 */
export async function checkContents(
  { groups }: Contents,
  verdicts: FactTable<VerdictFacts>,
  options: VerdictOptions,
): Promise<Finding[]> {
  const { limits } = options;
  const setting = contentKey('setting', settingOf(options));
  const findings: Finding[] = [];
  let blobs = 0;
  for (const group of groups) {
    const key = contentKey(
      'verdict',
      setting,
      ...group.flatMap(({ file, identity }) => [file.path, identity]),
    );
    const earlier = verdicts.get(key);
    const facts = earlier ?? (await checkGroup(group, options));
    if (!earlier) verdicts.set(key, facts);
    for (const finding of facts.findings) findings.push(finding);
    // The limit is of the whole catalog. Only the group that goes beyond it reports that.
    const before = blobs;
    blobs += facts.blobs;
    if (before <= limits.documents && blobs > limits.documents) findings.push(tooMany(group, limits));
  }
  return findings.sort(compareFindings);
}

/** Names what the findings follow from beside the files: a change of rules, severities or limits makes old verdicts useless. */
function settingOf({ rules, severityOf, limits }: VerdictOptions): string {
  return JSON.stringify([rules.map((rule) => [rule.id, severityOf(rule)]), limits]);
}

/** The findings in files that belong together, and how many blobs they hold. */
async function checkGroup(
  group: readonly IdentifiedFile[],
  { rules, severityOf, limits }: VerdictOptions,
): Promise<VerdictFacts> {
  const source = { files: async () => group.map(({ file }) => file) };
  const { findings, catalog } = await checkCatalog(source, rules, { severityOf, limits });
  const { packages, bundles } = catalog.blobs;
  return { findings, blobs: blobCount(catalog.blobs), packages: packages.length, bundles: bundles.length };
}

/** How many packages and bundles there are in what was checked. */
export function checkedCounts(verdicts: FactTable<VerdictFacts>): { packages: number; bundles: number } {
  let packages = 0;
  let bundles = 0;
  for (const facts of verdicts.used.values()) {
    packages += facts.packages;
    bundles += facts.bundles;
  }
  return { packages, bundles };
}

/**
 * The finding for a catalog with more blobs than the policy allows, at the group of files that goes beyond.
 */
function tooMany([first]: readonly IdentifiedFile[], { documents }: LoadLimits): Finding {
  return {
    rule: 'fbc/limits',
    severity: 'error',
    message: `more than ${documents} documents`,
    location: { file: first?.file.path ?? '', line: 1, column: 1 },
    hint: 'raise limits.docs in the policy',
  };
}
