/**
 * The rules of each suite. A suite is named after the tool that uses it; a view shows
 * what one of the real tools would say, and nothing else.
 *
 * @see https://github.com/operator-framework/operator-sdk/blob/master/internal/cmd/operator-sdk/bundle/validate/optional.go
 */
import type { Finding } from '../finding.ts';

/** What OperatorHub shows of an operator, without the annotations that it groups operators by. */
export const SHOWN: readonly string[] = [
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
  const special = keysOf(SUITES).filter((name) => matches(SUITES[name], id));
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
export function matches(patterns: readonly string[], id: string): boolean {
  return patterns.includes(id) || patterns.includes(`${id.split('/')[0]}/*`);
}

export type View = 'sdk' | 'opm';

export const VIEW_NAMES: readonly View[] = ['sdk', 'opm'];

interface Tool {
  /** Rules whose defects the tool does not see. */
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
  return !matches(TOOLS[view].blind, id);
}

/** Of findings those that a tool has too. */
export function seenBy(view: View, findings: readonly Finding[]): Finding[] {
  const { warns } = TOOLS[view];
  return findings.filter(
    ({ rule, severity }) =>
      (severity === 'error' || (severity === 'warning' && warns)) && seesRule(view, rule),
  );
}
