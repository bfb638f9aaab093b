import type { Catalog } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { RULES } from './index.ts';
import { runRules } from './rule.ts';

/**
 * Whether `opm serve` starts with a catalog: one invalid package keeps all of them from
 * being served.
 *
 * @param loadFindings what was found when the catalog was loaded
 */
export function isServed(catalog: Catalog, loadFindings: readonly Finding[]): boolean {
  return refusals(catalog, loadFindings).length === 0;
}

/**
 * The findings for which `opm serve` refuses a catalog: errors of rules that stand for messages of opm.
 *
 * @param loadFindings what was found when the catalog was loaded
 */
export function refusals(catalog: Catalog, loadFindings: readonly Finding[]): Finding[] {
  const rules = RULES.filter(({ opm }) => opm !== undefined);
  const ids = new Set(rules.map(({ id }) => id));
  const found = loadFindings.filter(({ rule, severity }) => severity === 'error' && ids.has(rule));
  return [...found, ...runRules(catalog, rules)];
}

/**
 * Whether OLM v1 can load a package of a catalog. catalogd stores whatever it can split into blobs, and
 * operator-controller loads the blobs of one package: what another package lacks makes no difference.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/operator-controller/catalogmetadata/client/client.go (GetPackage)
 */
export function isLoadedByV1(loadFindings: readonly Finding[], name: string): boolean {
  return !loadFindings.some(
    ({ rule, severity, package: packageName }) =>
      // An error without a package may hide blobs of any.
      severity === 'error' && LOADING_RULES.has(rule) && (packageName === undefined || packageName === name),
  );
}

/** Errors that stop a file from being split into blobs, or a blob from being loaded. Blobs without a schema are ignored. */
const LOADING_RULES: ReadonlySet<string> = new Set([
  'fbc/bundle-object',
  'fbc/duplicate-key',
  'fbc/field-type',
  'fbc/json',
  'fbc/limits',
  'fbc/object',
  'fbc/unreadable',
  'fbc/yaml',
]);
