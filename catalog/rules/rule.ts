/**
 * Rules: one thing a rule. A rule that looks at a catalog as a whole has a file; those that
 * look at one bundle, or that others report, are rows in the table of their kind (`table.ts`).
 */
import type { Inspected } from '../bundle/inspect.ts';
import type { OperatorFolder } from '../bundle/operator-folder.ts';
import type { Fragment } from '../fbc/fragment.ts';
import type { Bundle, Catalog } from '../fbc/model.ts';
import {
  addFinding,
  compareFindings,
  type Finding,
  type Location,
  milderSeverity,
  type Severity,
} from '../finding.ts';
import type { Change, Olm, World } from '../olm/foresight/world.ts';
import type { ResolvedReferences } from '../references/lookup.ts';
import { Undecided } from '../undecided.ts';

/** Names in messages, for rules. */
export { quoted } from '../names.ts';

/** A predicate for one installation and for many, such as `loses its upgrade path`. */
export interface Effect {
  readonly one: string;
  readonly many: string;
  /** The OLM under which it happens; absent for both. */
  readonly olm?: Olm;
}

export interface Rule {
  /** `<kind>/<defect>`, which is also the path of the rule's fixtures and, unless it is a row of a table, of its file. */
  readonly id: string;
  /** The severity of its findings unless a policy sets another one. */
  readonly severity: Severity;
  /** The severity in a pull request, if a validator of bundles is stricter than opm, which renders the bundle. */
  readonly severityInChecks?: Severity;
  /** Its findings, in one sentence that starts with "Reports": the first line that GitHub shows of an alert. */
  readonly summary: string;
  /** The effect on the installations that a finding names, for the first line of a report. */
  readonly effect?: Effect;
  /** The fix, for findings without a hint. */
  readonly fix?: string;
  /** Messages of opm and of bundle validators that the rule covers; absent if they have none. */
  readonly opm?: readonly [string, ...string[]];
  /** The harm of its findings to clusters that use the catalog; absent if they do none. */
  readonly harm?: Harm;
  /** Whether it is about bundles rather than catalogs: its findings do not depend on where a bundle is offered. */
  readonly aboutBundles?: true;
  /** Its inputs besides the catalog and its simulation, in alphabetical order. A check may omit inputs that no rule reads. */
  readonly reads?: readonly RuleInput[];
  /** Looks at the catalog as a whole. A rule without any check is for what is found while files are read. */
  readonly check?: (catalog: Catalog, report: Report) => void;
  /** Makes a check of single bundles. Each run makes a new one, so it may keep state. */
  readonly bundleCheck?: () => BundleCheck;
  /** Whether it runs only where a policy or one of its presets names it. */
  readonly isOptional?: true;
  /** Looks at the folder of an operator: its settings, and all of its bundles. */
  readonly operator?: (operator: OperatorFolder, report: Report) => void;
  /** Looks at the Dockerfile of a catalog's image. */
  readonly fragment?: (fragment: Fragment, report: Report) => void;
  /** Looks at the files of a bundle. */
  readonly inspect?: (bundle: Inspected, report: Report) => void;
  /** Looks at what clusters do with a catalog. */
  readonly checkWorld?: (world: World, report: Report) => void;
  /** Looks at what a change of a catalog does to clusters. */
  readonly compare?: (change: Change, report: Report) => void;
  /** Whether only its `compare` finds what is new in a change: what its `checkWorld` finds counts as known. */
  readonly comparisonTellsNews?: true;
  /** Checks the replies of registries about a catalog's references. */
  readonly resolved?: (references: ResolvedReferences, report: Report) => void;
}

/** The effect of a finding on clusters. */
interface Harm {
  /** 1 is the worst. */
  readonly rank: number;
  /**
   * `loss`: what clusters have or could reach is taken away. `change`: clusters get something else than before.
   * `later`: clusters notice it when the platform is upgraded. `some`: it depends on what else a cluster has or selects.
   */
  readonly kind: 'loss' | 'change' | 'later' | 'some';
}

/**
 * What a rule may read besides a catalog: other catalogs of the clusters or of the repository, what was ever published,
 * manifests of bundles, and what registries say.
 */
export type RuleInput = 'catalogs' | 'history' | 'manifests' | 'registry';

type BundleCheck = (bundle: Bundle, report: Report) => void;

/** Says what is wrong at a place: which object, what was found, what was expected. */
export type Report = (message: string, location: Location, details?: Details) => void;

/** The same report with findings of a milder severity. */
export function reportAs(severity: Severity, report: Report): Report {
  return (message, location, details) => report(message, location, { ...details, severity });
}

export type Details = Pick<
  Finding,
  'hint' | 'correction' | 'package' | 'channel' | 'subject' | 'installed'
> & {
  /** A finding may be milder than its rule, never worse. */
  readonly severity?: Severity;
};

/** A policy's word on a rule. */
export type SeverityOf = (rule: Rule) => Severity | 'off';

/** Rules in the order of their ids. */
export function byId(rules: readonly Rule[]): readonly Rule[] {
  // A dot behind the id sorts `crd/scale-status` before `crd/scale`, as `scale-status.ts` comes before `scale.ts`.
  return rules.toSorted((a, b) => (`${a.id}.` < `${b.id}.` ? -1 : 1));
}

/** Runs all checks of rules over a catalog. Findings are sorted, the worst first. */
export function runRules(
  catalog: Catalog,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  const findings = runCatalogChecks(catalog, rules, severityOf);
  // It adds to the same list.
  const checkBundle = bundleChecker(rules, severityOf, findings);
  for (const bundle of catalog.blobs.bundles) checkBundle(bundle);
  return findings.sort(compareFindings);
}

/** Runs only the checks that look at the catalog as a whole. Findings are in no order. */
export function runCatalogChecks(
  catalog: Catalog,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  const findings: Finding[] = [];
  for (const rule of rules) {
    if (!rule.check) continue;
    const severity = severityOf(rule);
    if (severity !== 'off') rule.check(catalog, reportTo(findings, rule, severity));
  }
  return findings;
}

/**
 * Runs the checks that look at what clusters do with a catalog. Findings are sorted, the worst first.
 *
 * @throws UndecidedRules
 */
export function runForesight(
  world: World,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  const own = rules.filter(({ checkWorld }) => checkWorld);
  return runEach(own, severityOf, (rule, report) => rule.checkWorld?.(world, report));
}

/**
 * Runs the checks that look at a change of a catalog. Findings are sorted, the worst first.
 *
 * @throws UndecidedRules
 */
export function runComparison(
  change: Change,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  const own = rules.filter(({ compare }) => compare);
  return runEach(own, severityOf, (rule, report) => rule.compare?.(change, report));
}

/** Runs the checks that look at the files of a bundle. Findings are sorted, the worst first. */
export function runInspection(
  bundle: Inspected,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  return runEach(rules, severityOf, (rule, report) => rule.inspect?.(bundle, report));
}

/** Runs the checks that look at the folder of an operator. Findings are sorted, the worst first. */
export function runOperatorChecks(
  operator: OperatorFolder,
  rules: readonly Rule[],
  severityOf: SeverityOf,
): Finding[] {
  return runEach(rules, severityOf, (rule, report) => rule.operator?.(operator, report));
}

/** Runs the checks that look at the Dockerfile of a catalog's image. Findings are sorted, the worst first. */
export function runFragmentChecks(
  fragment: Fragment,
  rules: readonly Rule[],
  severityOf: SeverityOf,
): Finding[] {
  return runEach(rules, severityOf, (rule, report) => rule.fragment?.(fragment, report));
}

/** Runs the checks of registries' replies. Findings are sorted, the worst first. */
export function runResolved(
  references: ResolvedReferences,
  rules: readonly Rule[],
  severityOf: SeverityOf = ownSeverity,
): Finding[] {
  return runEach(rules, severityOf, (rule, report) => rule.resolved?.(references, report));
}

/** Thrown where rules could not be decided, with what all rules found. */
export class UndecidedRules extends Undecided {
  readonly findings: readonly Finding[];

  constructor({ what, why }: Undecided, findings: readonly Finding[]) {
    super(what, why);
    this.findings = findings;
  }
}

/**
 * Runs rules, and gives their findings, the worst first.
 *
 * @throws UndecidedRules with these findings if a rule could not decide
 */
function runEach(
  rules: readonly Rule[],
  severityOf: SeverityOf,
  run: (rule: Rule, report: Report) => void,
): Finding[] {
  const findings: Finding[] = [];
  let undecided: Undecided | undefined;
  for (const rule of rules) {
    const severity = severityOf(rule);
    if (severity === 'off') continue;
    try {
      run(rule, reportTo(findings, rule, severity));
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      // The other rules still run; the error carries what they find. One reason is enough to call the check incomplete.
      undecided = error;
    }
  }
  findings.sort(compareFindings);
  if (undecided) throw new UndecidedRules(undecided, findings);
  return findings;
}

/** Makes one function out of all checks that look at one bundle; it adds to `findings`. */
export function bundleChecker(
  rules: readonly Rule[],
  severityOf: SeverityOf,
  findings: Finding[],
): (bundle: Bundle) => void {
  const checks = rules.flatMap((rule) => {
    const severity = severityOf(rule);
    if (!rule.bundleCheck || severity === 'off') return [];
    const check = rule.bundleCheck();
    const report = reportTo(findings, rule, severity);
    return [(bundle: Bundle) => check(bundle, report)];
  });
  return (bundle) => {
    for (const check of checks) check(bundle);
  };
}

/** Findings of a loader with the severities that a policy gives their rules; others keep theirs. */
export function withSeverities(
  findings: readonly Finding[],
  rules: readonly Rule[],
  severityOf: SeverityOf,
): Finding[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return findings.flatMap((finding) => {
    const rule = byId.get(finding.rule);
    const severity = rule ? severityOf(rule) : finding.severity;
    return severity === 'off' ? [] : [{ ...finding, severity }];
  });
}

/** The severity of a rule that no policy sets. */
export function ownSeverity({ severity, isOptional }: Rule): Severity | 'off' {
  return isOptional ? 'off' : severity;
}

/** A report that adds to `findings`. */
function reportTo(findings: Finding[], rule: Rule, severity: Severity): Report {
  // A rule about files adds its fix as the hint. Findings about catalogs are compared between commits with their hints, so a
  // rule about catalogs writes its own.
  const isOfFiles = rule.inspect !== undefined || rule.operator !== undefined;
  const fix = isOfFiles && rule.fix !== undefined ? { hint: rule.fix } : {};
  return (message, location, { severity: own = severity, ...details } = {}) => {
    const named = details.package === '' ? withoutPackage(details) : details;
    const finding = {
      rule: rule.id,
      severity: milderSeverity(severity, own),
      message,
      location,
      ...fix,
      ...named,
    };
    addFinding(findings, finding);
  };
}

/** Files outside of packages have an empty package name. */
function withoutPackage({ package: _, ...rest }: Details): Details {
  return rest;
}
