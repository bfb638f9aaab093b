/**
 * The rules of each suite. A suite is named after the tool that uses it; a view shows
 * what one of the real tools would say, and nothing else.
 *
 * @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/bundle/validate/optional.go
 */
import type { Finding } from '../finding.ts';

/** What OperatorHub shows of an operator, without the annotations that it groups operators by. */
const SHOWN: readonly string[] = [
  'csv/provider',
  'csv/maintainer',
  'csv/link',
  'csv/version',
  'csv/icon',
  'csv/icon-data',
  'csv/icon-missing',
];

/** What OperatorHub shows of an operator. */
const STORE: readonly string[] = [...SHOWN, 'csv/capabilities', 'csv/categories'];

type Special =
  | 'operatorhub'
  | 'operatorhub-fields'
  | 'community'
  | 'openshift'
  | 'olmv1'
  | 'multiarch'
  | 'objects'
  | 'scorecard';

/** Suites beside `default`, each a list of rule ids and of kinds `KIND/*`; a rule may be in several. */
const SUITES: Readonly<Record<Special, readonly string[]>> = {
  operatorhub: [
    ...STORE,
    'practice/*',
    'api/*',
    'console/presentation',
    'console/api-fields',
    'console/descriptor',
  ],
  'operatorhub-fields': ['store/*'],
  community: [...STORE, 'practice/*', 'api/*', 'openshift/*', 'console/presentation'],
  openshift: [...STORE, 'practice/*', 'api/*', 'openshift/*', 'console/*', 'disconnected/*', 'platform/*'],
  olmv1: ['olmv1/*'],
  multiarch: ['platform/*'],
  objects: ['object/*'],
  scorecard: ['scorecard/*'],
};

export type Suite = 'default' | 'all' | Special;

/** Every suite: `default` is what OLM v0 needs, `all` every rule. */
export const SUITE_NAMES: readonly Suite[] = ['default', ...keysOf(SUITES), 'all'];

function keysOf<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}

/** Whether a suite has a rule by itself; what no suite has is in `default`, which is part of every suite. */
export function isInSuite(id: string, suite: Suite): boolean {
  if (suite === 'all') return true;
  const special = keysOf(SUITES).filter((name) => matchesPattern(SUITES[name], id));
  return special.length === 0 || special.some((name) => name === suite);
}

/**
 * What counts in a pull request besides `default`: it keeps clusters from upgrades, changes all pods of the cluster, or puts
 * the bundle into no catalog.
 */
const HARMFUL: readonly string[] = [
  'object/disruption-budget',
  'object/priority-class',
  'openshift/versions-range',
];

/** Whether a rule counts in every pull request, whatever the policy names. */
export function countsInChecks(id: string): boolean {
  return isInSuite(id, 'default') || HARMFUL.includes(id);
}

/** Whether one of the patterns is the id, or its kind as `KIND/*`. */
export function matchesPattern(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes(`${id.split('/')[0]}/*`);
}

export type View = 'sdk' | 'opm';

export const VIEW_NAMES: readonly View[] = ['sdk', 'opm'];

interface Tool {
  /** Rules (or kinds, as `KIND/*`) whose defects the tool does not see. */
  readonly blind: readonly string[];
  /** Whether it says warnings. */
  readonly warns: boolean;
}

const TOOLS: Readonly<Record<View, Tool>> = {
  sdk: {
    warns: true,
    blind: [
      'annotations/default-channel',
      'annotations/package',
      'crd/owned-case',
      'crd/owned-group',
      'crd/scale-status',
      'crd/unquoted',
      'csv/annotations',
      'csv/api-service',
      'csv/container-image',
      'csv/own-rights',
      'csv/service-account-missing',
      'csv/self-replacement',
      'csv/skip-range',
      'csv/min-kube-version-blank',
      'csv/null-api',
      'annotations/labels',
      'crd/field-case',
      'csv/field-case',
      'csv/icon-data',
      'csv/install-modes-twice',
      'csv/substitutes-for',
      'csv/unquoted',
      'manifest/duplicate-object',
      'manifest/lost-document',
      'manifest/metadata-type',
      'practice/channel-name',
      'console/*',
      'disconnected/*',
      'webhook/*',
      'object/*',
      'openshift/max-version',
      'openshift/scc',
      'openshift/versions-range',
      'store/*',
    ],
  },
  opm: {
    warns: false,
    blind: [
      'annotations/default-channel',
      'annotations/folder',
      'annotations/package',
      'annotations/unreadable',
      'crd/duplicate',
      'crd/not-owned',
      'crd/owned-case',
      'manifest/json',
      'crd/scale-status',
      'csv/annotations',
      'csv/api-service',
      'csv/container-image',
      'csv/own-rights',
      'csv/service-account-missing',
      'csv/field-case-type',
      'csv/self-replacement',
      'csv/skip-range',
      'csv/min-kube-version-blank',
      'csv/null-api',
      'annotations/labels',
      'csv/icon-data',
      'csv/install-modes-twice',
      'csv/related-image',
      'csv/release-name',
      'csv/service-account',
      'manifest/hidden-file',
      'manifest/mixed-documents',
      'manifest/several-csvs',
      'manifest/size',
      'practice/*',
      'scorecard/*',
      'api/removed-1-22',
      'api/removed-1-25',
      'api/removed-1-26',
      'console/*',
      'disconnected/*',
      'webhook/*',
      'object/*',
      'openshift/*',
      'store/*',
    ],
  },
};

/** Whether a tool sees the defects of a rule. */
export function seesRule(view: View, id: string): boolean {
  return !matchesPattern(TOOLS[view].blind, id);
}

/** Of findings those that a tool has too. */
export function seenBy(view: View, findings: readonly Finding[]): Finding[] {
  const { warns } = TOOLS[view];
  return findings.filter(
    ({ rule, severity }) =>
      (severity === 'error' || (severity === 'warning' && warns)) && seesRule(view, rule),
  );
}

// The optional validators of operator-sdk, chosen by label selectors as its option `--select-optional` takes them.
//
// @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/bundle/validate/optional.go
// @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors

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
/** `suite=a`, `suite in (a, b)`, and `suite` or `!suite`. */
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
  // Commas separate requirements, but those in parentheses separate values.
  const requirements = selector.split(/,(?![^(]*\))/).map((text) => requirementIn(text.trim()));
  // What is not a requirement selects nothing.
  const selected = VALIDATORS.filter((validator) => requirements.every((isMet) => isMet?.(validator)));
  return selected.length === 0 ? undefined : selected.flatMap(({ rules }) => rules);
}

type Requirement = (validator: Validator) => boolean;

/** Parses a requirement of a label selector, such as `suite=basic` or `name notin (a, b)`; undefined if it is not one. */
function requirementIn(text: string): Requirement | undefined {
  const found = REQUIREMENTS.map((pattern) => pattern.exec(text)?.groups).find((groups) => groups);
  if (!found) return undefined;
  const { key = '', operator = '', value = '' } = found;
  const values = value.split(',').map((each) => each.trim());
  return ({ name, suite }) => {
    const label = new Map([
      ['name', name],
      ['suite', suite],
    ]).get(key);
    // A key alone asks whether the label is there, and `!` whether it is not.
    if (operator === '') return label !== undefined;
    if (operator === '!') return label === undefined;
    const isOne = label !== undefined && values.includes(label);
    return operator === '!=' || operator === 'notin' ? !isOne : isOne;
  };
}
