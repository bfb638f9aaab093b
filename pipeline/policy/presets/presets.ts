/** Every preset, and what presets say of rules. */
import { isInSuite, matchesPattern, seesRule, selectedRules } from '../../../catalog/bundle/suite.ts';
import { milderSeverity, type Severity } from '../../../catalog/finding.ts';
import { CATALOG_RULES } from '../../../catalog/rules/catalog.ts';
import { INSPECTION_RULES } from '../../../catalog/rules/inspection.ts';
import { CONFORMA, KONFLUX } from './konflux.ts';
import { CERTIFIED, COMMUNITY } from './operator-pipelines.ts';
import { OPERATORHUB } from './operatorhub.ts';
import type { Preset, PresetName, PresetRow } from './preset.ts';

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  community: COMMUNITY,
  certified: CERTIFIED,
  konflux: KONFLUX,
  conforma: CONFORMA,
  operatorhub: OPERATORHUB,
};

/** The rules of a row with the severity that they have in the gate; none for what Portolan does not check. */
export function rulesOf(row: PresetRow): ReadonlyMap<string, Severity> {
  if ('rules' in row) return new Map(Object.entries(row.rules));
  if ('validators' in row) return validatorRules(row.validators);
  return 'opmValidate' in row ? OPM_RULES : new Map();
}

/** The rules for whose findings `opm validate` fails. */
const OPM_RULES: ReadonlyMap<string, Severity> = new Map(
  CATALOG_RULES.filter(({ opm, severity }) => opm && severity === 'error').map(({ id, severity }) => [
    id,
    severity,
  ]),
);

/**
 * The rules of `operator-sdk bundle validate`, with the severities that it has for them.
 *
 * @param selector as its option `--select-optional`: the validators that run besides those that always do
 */
function validatorRules(selector: string): ReadonlyMap<string, Severity> {
  const selected = selectedRules(selector) ?? [];
  return new Map(
    INSPECTION_RULES.filter(
      ({ id, severity, isOptional }) =>
        !isOptional &&
        severity !== 'info' &&
        seesRule('sdk', id) &&
        (isInSuite(id, 'default') || matchesPattern(selected, id)),
    ).map(({ id, severity }) => [id, severity]),
  );
}

/** The severity of each rule that any of some presets has: the worst one that a check gives it. */
export function presetSeverities(names: readonly PresetName[]): ReadonlyMap<string, Severity> {
  const found = new Map<string, Severity>();
  for (const row of names.flatMap((name) => PRESETS[name].rows))
    for (const [id, severity] of rulesOf(row)) {
      const known = found.get(id);
      found.set(id, known && milderSeverity(known, severity) === severity ? known : severity);
    }
  return found;
}
