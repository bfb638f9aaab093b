/**
 * Whether the clusters that use an index image keep their upgrade paths with the next one: the change between the commits of
 * both, checked as a pull request is. Tags that get one image may have different ones so far: the worst result counts. For the
 * first image the catalog is checked as it is.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { clusterInstallations, withoutChannels } from '../../../catalog/olm/foresight/installation.ts';
import { type Olm, upgradePathOf, type World } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runForesight } from '../../../catalog/rules/rule.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { commitCatalogs } from '../../change/commit-catalogs.ts';
import { worldsOf } from '../../check/audit.ts';
import { checkPullRequest } from '../../check/check.ts';
import { PipelineError } from '../../error.ts';
import { entryAt } from '../../git/tree.ts';
import { POLICY_PATH } from '../../policy/read-policy.ts';
import { isEnforced, severitiesOf } from '../../policy/severity.ts';
import { applyWaivers } from '../../policy/waiver.ts';
import type { Publication } from './extra-statement.ts';

/** As JSON a public interface, described in docs/policy-engines.md. */
interface UpgradeSafety {
  /** `UNKNOWN` where something could not be checked. */
  readonly result: 'PASSED' | 'FAILED' | 'UNKNOWN';
  readonly catalog: string;
  /** Id of the commit that was checked. */
  readonly commit: string;
  /** Id of the commit of the previous image, with several tags the one with the worst result; absent where none is known. */
  readonly previous?: string;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly date: string;
  /** The installations that were simulated, of the packages that changed; of all packages without a previous image. */
  readonly simulated: readonly Simulated[];
  /** Errors that count make the result `FAILED`. */
  readonly findings: readonly StatedFinding[];
  readonly waived: readonly StatedFinding[];
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
  /** How many findings are left out, to keep the statement short; absent where it has all. */
  readonly omitted?: number;
}

interface Simulated {
  readonly package: string;
  readonly resolver: Olm;
  readonly versions: readonly string[];
  /** Under OLM v0 one for each channel and version, under OLM v1 one for each version. */
  readonly installations: number;
  /** How many of them have an upgrade path to the head of a channel. */
  readonly arrive: number;
}

interface StatedFinding
  extends Pick<Finding, 'rule' | 'severity' | 'message' | 'package' | 'channel' | 'installed'> {
  readonly waivedUntil?: string;
}

/** Most findings and most waived ones of a statement: statements over 1 MiB are not read. */
const MOST_FINDINGS = 200;
/** Most bytes of a policy, as where policies are read. */
const POLICY_BYTES = 1024 * 1024;

/** Results, the worst last: an error that was found stands whatever else is unknown. */
const WORSE: readonly UpgradeSafety['result'][] = ['PASSED', 'UNKNOWN', 'FAILED'];

type CheckResult = Pick<UpgradeSafety, 'result' | 'simulated' | 'findings' | 'waived' | 'unchecked'>;

/** The predicate. What cannot be checked never passes, and does not stop the publish. */
export async function upgradeSafety(publication: Publication): Promise<UpgradeSafety> {
  const { catalog, commit, today } = publication;
  const { previous, ...checked } = await worstOf(publication);
  const findings = checked.findings.slice(0, MOST_FINDINGS);
  const waived = checked.waived.slice(0, MOST_FINDINGS);
  const omitted = checked.findings.length + checked.waived.length - findings.length - waived.length;
  return {
    ...checked,
    catalog,
    commit,
    ...(previous === undefined ? {} : { previous }),
    date: today,
    findings,
    waived,
    ...(omitted > 0 ? { omitted } : {}),
  };
}

/** The worst result for the previous images, and the commit of that image; the first of equal ones. */
async function worstOf(publication: Publication): Promise<CheckResult & Pick<UpgradeSafety, 'previous'>> {
  let worst: (CheckResult & { readonly previous: string }) | undefined;
  for (const previous of publication.previous) {
    const checked = await checkChange(publication, previous).catch(notChecked);
    if (!worst || WORSE.indexOf(checked.result) > WORSE.indexOf(worst.result))
      worst = { ...checked, previous };
  }
  return worst ?? (await checkState(publication).catch(notChecked));
}

/**
 * What is stated of a catalog that could not be checked. Any other error is a fault of this program, and is
 * thrown.
 */
function notChecked(error: unknown): CheckResult {
  if (!(error instanceof PipelineError) && !(error instanceof Undecided)) throw error;
  const unchecked = [{ what: 'the catalog', why: error.message }];
  return { result: 'UNKNOWN', simulated: [], findings: [], waived: [], unchecked };
}

/** What a check of the change since the last publish says about this catalog. */
async function checkChange(
  { repository, catalog, commit, policy, today }: Publication,
  previous: string,
): Promise<CheckResult> {
  const worlds: World[] = [];
  const entry = await entryAt(repository.objects, commit, POLICY_PATH);
  // The policy that publishes; a check would take that of the base, the previous commit.
  const bytes = entry ? (await repository.objects.read(entry.id, POLICY_BYTES)).bytes : new Uint8Array();
  const report = await checkPullRequest(repository, {
    base: previous,
    head: commit,
    ancestor: previous,
    policy: { path: POLICY_PATH, bytes },
    // Those have rules for one pull request; between two images there may be many.
    presets: [],
    today,
    foreseen: ({ after }) => {
      if (after.name === catalog) worlds.push(after);
    },
  });
  // A finding without catalogs is about all of them.
  const isOwn = ({ catalogs = [catalog] }: Finding): boolean => catalogs.includes(catalog);
  const findings = report.findings.filter(isOwn);
  const waived = report.waived.filter(({ finding }) => isOwn(finding));
  // Without an error here, "fail" is about another catalog, and hides whether this one was checked completely.
  const isClear = report.verdict === 'pass' || (report.verdict === 'fail' && report.unchecked.length === 0);
  const unfailed = isClear ? 'PASSED' : 'UNKNOWN';
  return {
    result: hasFailed(findings, policy) ? 'FAILED' : unfailed,
    simulated: worlds.flatMap(simulatedIn),
    findings: findings.map(statedFinding),
    waived: waived.map(({ finding, until }) => ({ ...statedFinding(finding), waivedUntil: until })),
    unchecked: report.unchecked,
  };
}

/** What the rules say about a catalog that was never published: there is nothing to compare with. */
async function checkState({ repository, catalog, commit, policy, today }: Publication): Promise<CheckResult> {
  const catalogs = await commitCatalogs(repository.objects, commit, { policy, names: new Set([catalog]) });
  const worlds = await worldsOf({ catalogs, olm: policy.graph.olm, today });
  const all = worlds
    .flatMap((world) => runForesight(world, RULES, severitiesOf(policy)))
    .map((finding) => ({ ...finding, catalogs: [catalog] }));
  const { findings, waived } = applyWaivers(all, policy.waivers, today);
  return {
    result: hasFailed(findings, policy) ? 'FAILED' : 'PASSED',
    simulated: worlds.flatMap(simulatedIn),
    findings: findings.map(statedFinding),
    waived: waived.map(({ finding, waiver }) => ({ ...statedFinding(finding), waivedUntil: waiver.until })),
    unchecked: [],
  };
}

/** Whether there is an error of a rule that the policy enforces. */
function hasFailed(findings: readonly Finding[], policy: Publication['policy']): boolean {
  return findings.some(({ severity, rule }) => severity === 'error' && isEnforced(policy, rule));
}

/**
 * The fields of a finding that a statement has; places and fixes are left out, as they say nothing about
 * clusters.
 */
function statedFinding({
  rule,
  severity,
  message,
  package: packageName,
  channel,
  installed,
}: Finding): StatedFinding {
  return {
    rule,
    severity,
    message,
    ...(packageName === undefined ? {} : { package: packageName }),
    ...(channel === undefined ? {} : { channel }),
    ...(installed === undefined ? {} : { installed }),
  };
}

/** What was simulated in a catalog: the packages that changed, or all, under each OLM version of the policy. */
function simulatedIn(world: World): Simulated[] {
  const names = [...(world.packages ?? world.catalog.packages.keys())].sort();
  return names.flatMap((name) => [...world.olm].map((resolver) => simulatedOf(world, name, resolver)));
}

/** How many installations of a package one resolver takes to the head of a channel. */
function simulatedOf(world: World, name: string, resolver: Olm): Simulated {
  const all = clusterInstallations(world, name, resolver);
  // Under OLM v1 most installations select no channel, so each version counts once.
  const installations =
    resolver === 'v0' ? all : withoutChannels(all).map((installed) => ({ channel: '', installed }));
  const arrive = installations.filter(
    ({ channel, installed }) =>
      upgradePathOf(world.foresight, { package: name, channel, olm: resolver }, installed).arrives,
  );
  const versions = withoutChannels(all).map((one) => (one.version ? formatVersion(one.version) : one.name));
  return { package: name, resolver, versions, installations: installations.length, arrive: arrive.length };
}
