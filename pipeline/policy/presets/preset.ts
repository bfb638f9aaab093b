/**
 * A preset: what another gate checks, by the names of its checks, and which rules of Portolan find the same. A preset is
 * data: a new check of the gate is a row, and perhaps a rule.
 */
import type { Severity } from '../../../catalog/finding.ts';

export const PRESET_NAMES = ['community', 'certified', 'konflux', 'conforma', 'operatorhub'] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

/** A check of the gate, as the gate calls it, with its place in the gate's sources. */
interface PresetCheck {
  readonly check: string;
  readonly source: string;
  /** In which findings of Portolan and of the gate differ on purpose, in a sentence. */
  readonly differs?: string;
}

/** Rules that find what the check finds, with the severity that it has in the gate. */
interface RuleRow extends PresetCheck {
  readonly rules: Readonly<Record<string, Severity>>;
}

/** `operator-sdk bundle validate` with a selector of optional validators: the rules are those of the validators. */
interface ValidatorRow extends PresetCheck {
  readonly validators: string;
}

/** `opm validate`: the rules are those of catalogs that stand for errors of opm. */
interface OpmRow extends PresetCheck {
  readonly opmValidate: true;
}

/** A check that files and registries do not decide, and why. */
interface UncheckedRow extends PresetCheck {
  readonly notChecked: string;
}

export type PresetRow = RuleRow | ValidatorRow | OpmRow | UncheckedRow;

export interface Preset {
  readonly name: PresetName;
  /** The gate, in words. */
  readonly gate: string;
  /** The repository of its sources on GitHub. */
  readonly repository: string;
  readonly commit: string;
  /** Day of the commit, `YYYY-MM-DD`. */
  readonly date: string;
  /** What references of bundles' images must begin with; `config.yaml` names them where the gate reads it. */
  readonly bundleRegistries?: readonly string[] | 'config.yaml';
  /** Whether removed APIs are checked for the newest OpenShift of a bundle's annotation. */
  readonly checksNewestPlatform?: true;
  readonly rows: readonly PresetRow[];
}
