/** Checking one bundle: every rule is asked, a suite says which findings count. */

import { gzipSync } from 'node:zlib';
import {
  type Inspected,
  type InspectOptions,
  inspectedBundle,
  inspectedFiles,
} from '../../../catalog/bundle/inspect.ts';
import { isForOpenshift, OPENSHIFT_VERSIONS } from '../../../catalog/bundle/openshift-range.ts';
import { type BundleFiles, readBundleFiles } from '../../../catalog/bundle/read.ts';
import {
  countsInChecks,
  isInSuite,
  matchesPattern,
  SUITE_NAMES,
  type Suite,
  seenBy,
  type View,
} from '../../../catalog/bundle/suite.ts';
import { compareMinors, formatMinor, type Minor } from '../../../catalog/fbc/openshift.ts';
import { knownPlatforms, kubernetesOf } from '../../../catalog/fbc/platform.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { INSPECTION_RULES } from '../../../catalog/rules/inspection.ts';
import { runInspection, type SeverityOf } from '../../../catalog/rules/rule.ts';
import type { CatalogSource } from '../../../catalog/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { PRESETS } from '../../policy/presets/presets.ts';
import { namedBy, severitiesOf } from '../../policy/severity.ts';
import { applyWaivers } from '../../policy/waiver.ts';
import type { OpenBundle } from './open-directory.ts';

interface BundleCheckOptions {
  readonly suites: readonly Suite[];
  /** More rules: ids, or kinds `KIND/*`. */
  readonly rules?: readonly string[];
  readonly view?: View;
  readonly severityOf?: SeverityOf;
  readonly options?: InspectOptions;
}

export interface BundleResult {
  /** What counts, the worst first. */
  readonly findings: readonly Finding[];
  /** What other suites would add; none is said twice. */
  readonly others: ReadonlyMap<Suite, readonly Finding[]>;
}

/** Checks a bundle by the chosen suites and rules; lists apart what only other suites report. */
export async function checkBundle(
  { source, dockerfile, labels }: OpenBundle,
  { suites, rules = [], view, severityOf, options = {} }: BundleCheckOptions,
): Promise<BundleResult> {
  const bundle = await inspectedBundle(source, {
    gzipLength,
    ...(dockerfile ? { dockerfile } : {}),
    ...(labels ? { labels } : {}),
    ...options,
  });
  const all = softenUnasked(runInspection(bundle, INSPECTION_RULES, severityOf), suites);
  const seen = view ? seenBy(view, all) : all;
  const counts = ({ rule }: Finding): boolean =>
    matchesPattern(rules, rule) || suites.some((suite) => isInSuite(rule, suite));
  return { findings: seen.filter(counts), others: byOtherSuites(seen.filter((finding) => !counts(finding))) };
}

/** Suites whose errors fail a bundle only where the suite is asked for: most bundles are not tested or installed so. */
const ASKED: readonly Suite[] = ['olmv1', 'scorecard'];

/** Errors of {@link ASKED} suites that nobody asked for become informational. */
function softenUnasked(findings: readonly Finding[], suites: readonly Suite[]): readonly Finding[] {
  const prefixes = ASKED.filter((suite) => !suites.includes(suite)).map((suite) => `${suite}/`);
  return findings.map((finding) =>
    finding.severity === 'error' && prefixes.some((prefix) => finding.rule.startsWith(prefix))
      ? { ...finding, severity: 'info' }
      : finding,
  );
}

/** A bundle's directory in a repository. */
export interface BundleFolder {
  readonly path: string;
  readonly package: string;
}

/** Checks a bundle's files under a policy. OLM v0's rules count everywhere, others where the policy names them. */
export async function checkFiles(
  files: BundleFiles,
  { path, package: name }: BundleFolder,
  policy: Policy,
): Promise<Finding[]> {
  const read = await inspectedFiles(files, { gzipLength });
  const bundle = { ...read, options: { ...read.options, ...platformOf(read, policy) } };
  return runInspection(bundle, INSPECTION_RULES, countedSeverities(policy)).map((finding) => ({
    ...finding,
    package: name,
    location: { ...finding.location, file: `${path}/${finding.location.file}` },
  }));
}

/** The last version of OpenShift in the table of operator-pipelines. */
const LAST_KNOWN: Minor = { major: 4, minor: 17 };

/**
 * The version of Kubernetes for which a preset's gate checks a bundle: that of the newest OpenShift that the bundle is
 * for.
 */
function platformOf(
  { annotations }: Inspected,
  { presets }: Policy,
): Pick<InspectOptions, 'kubernetesVersion'> {
  if (!presets.some((name) => PRESETS[name].checksNewestPlatform)) return {};
  const range = annotations?.values[OPENSHIFT_VERSIONS];
  const written = typeof range === 'string' ? range : undefined;
  const newest = knownPlatforms().findLast((platform) => isForOpenshift(written, platform));
  // Its table ends there: operator-pipelines checks bundles for later versions as for that one.
  const known = newest && compareMinors(newest, LAST_KNOWN) > 0 ? LAST_KNOWN : newest;
  const kubernetes = known && kubernetesOf(known);
  return kubernetes ? { kubernetesVersion: formatMinor(kubernetes) } : {};
}

/**
 * Severities of the rules that count for a policy: rules of OLM v0, and those that the policy names. Others are off.
 */
function countedSeverities(policy: Policy): SeverityOf {
  const severityOf = severitiesOf(policy);
  const isNamed = namedBy(policy);
  return (rule) => (countsInChecks(rule.id) || isNamed(rule.id) ? severityOf(rule) : 'off');
}

/** A policy on a day, `YYYY-MM-DD` in UTC. */
export interface PolicyOn {
  readonly policy: Policy;
  readonly today: string;
}

/** Errors that keep a bundle from being pushed, for the check and for the merge. */
export async function refusalsOf(
  source: CatalogSource,
  folder: BundleFolder,
  { policy, today }: PolicyOn,
): Promise<Finding[]> {
  const found = await checkFiles(await readBundleFiles(source), folder, policy);
  const { findings } = applyWaivers(found, policy.waivers, today);
  return findings.filter(({ severity }) => severity === 'error');
}

/** Groups findings that do not count here by the suite that has their rule. */
function byOtherSuites(findings: readonly Finding[]): Map<Suite, Finding[]> {
  const others = new Map<Suite, Finding[]>();
  for (const finding of findings) {
    const suite = SUITE_NAMES.find((name) => isInSuite(finding.rule, name));
    if (suite) appendToGroup(others, suite, finding);
  }
  return others;
}

/** How many bytes gzip makes of a file's, as OLM compresses manifests into a ConfigMap. */
export function gzipLength(bytes: Uint8Array): number {
  return gzipSync(bytes).length;
}
