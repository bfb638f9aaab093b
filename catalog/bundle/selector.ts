/**
 * The optional validators of operator-sdk, chosen by label selectors as its option `--select-optional` takes them.
 *
 * @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/bundle/validate/optional.go
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */

import { SHOWN } from './suite.ts';

interface Validator {
  readonly name: string;
  /** Absent for validators that are chosen only by name. */
  readonly suite?: string;
  /** Ids of rules, or of kinds `KIND/*`. */
  readonly rules: readonly string[];
}

const HUB: readonly string[] = [...SHOWN, 'api/*'];
const SUITE = 'operatorframework';

const VALIDATORS: readonly Validator[] = [
  { name: 'operatorhubv2', suite: SUITE, rules: HUB },
  { name: 'capabilities', suite: SUITE, rules: ['csv/capabilities'] },
  { name: 'categories', suite: SUITE, rules: ['csv/categories'] },
  { name: 'operatorhub', rules: [...HUB, 'csv/capabilities', 'csv/categories'] },
  {
    name: 'community',
    rules: ['openshift/max-version', 'openshift/max-version-needed', 'openshift/versions-label'],
  },
  { name: 'alpha-deprecated-apis', suite: SUITE, rules: ['api/*'] },
  { name: 'good-practices', suite: SUITE, rules: ['practice/*'] },
  { name: 'multiarch', rules: ['platform/*'] },
];

/** The labels that a selector can name, for messages. */
export const SELECTABLE: readonly string[] = [
  `suite=${SUITE}`,
  ...VALIDATORS.map(({ name }) => `name=${name}`),
];

const KEY = '[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?';
const VALUE = '[-A-Za-z0-9_.]*';
const REQUIREMENTS: readonly RegExp[] = [
  new RegExp(`^(?<key>${KEY})\\s*(?<operator>==?|!=)\\s*(?<value>${VALUE})$`),
  new RegExp(
    `^(?<key>${KEY})\\s+(?<operator>in|notin)\\s*\\(\\s*(?<value>${VALUE}(?:\\s*,\\s*${VALUE})*)\\s*\\)$`,
  ),
  new RegExp(`^(?<operator>!?)\\s*(?<key>${KEY})$`),
];

/**
 * The rules of the validators that a selector such as `name=community` or `suite=operatorframework` selects.
 *
 * @returns undefined for a text that is not a selector, or selects nothing
 */
export function selectedRules(selector: string): readonly string[] | undefined {
  const requirements = selector.split(/,(?![^(]*\))/).map((text) => requirementIn(text.trim()));
  // What is not a requirement selects nothing.
  const selected = VALIDATORS.filter((validator) => requirements.every((holds) => holds?.(validator)));
  return selected.length === 0 ? undefined : selected.flatMap(({ rules }) => rules);
}

type Requirement = (validator: Validator) => boolean;

function requirementIn(text: string): Requirement | undefined {
  const found = REQUIREMENTS.map((pattern) => pattern.exec(text)?.groups).find((groups) => groups);
  if (!found) return undefined;
  const { key = '', operator = '', value = '' } = found;
  const values = value.split(',').map((each) => each.trim());
  return (validator) => {
    const label = key === 'name' ? validator.name : key === 'suite' ? validator.suite : undefined;
    if (operator === '') return label !== undefined;
    if (operator === '!') return label === undefined;
    const isOne = label !== undefined && values.includes(label);
    return operator === '!=' || operator === 'notin' ? !isOne : isOne;
  };
}
