/** What an edit of catalogs does to clusters, before it is written. */
import type { Catalog } from '../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import type { Finding } from '../../catalog/finding.ts';
import { changeOf, type WorldOptions } from '../../catalog/olm/foresight/world.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { ownSeverity } from '../../catalog/rules/rule.ts';
import { checkPullRequest } from '../check/check.ts';
import { foreseenIn, placedDiffs } from '../check/content/catalog-rules.ts';
import { undecidedParts } from '../check/findings.ts';
import type { CheckReport } from '../check/report.ts';
import type { Repository } from '../git/repository.ts';
import { type EditedFiles, editedCommits } from '../git/work-tree-commits.ts';

export interface Effect extends Pick<CheckReport, 'diffs' | 'unchecked'> {
  /** What clusters notice, the worst first. */
  readonly findings: readonly Finding[];
}

/** Rules about clusters, and those by which opm serves no catalog: not about how a catalog is written. */
const ABOUT_CLUSTERS: ReadonlySet<string> = new Set(
  RULES.filter(({ compare, checkWorld, opm }) => compare || checkWorld || opm).map(({ id }) => id),
);

interface WorkTreeEdit {
  /** The top of the work tree. */
  readonly top: string;
  /** What is to stand at paths below it. */
  readonly files: EditedFiles;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** What tags stand for, as a registry has just said. */
  readonly digests?: TagDigests;
}

/**
 * Checks an edit of a work tree as a pull request with it would be: with the other catalogs of the repository, and with
 * all that its history has.
 *
 * @returns the effect; a text with the reason where it is not known
 * @throws PipelineError `not-found` without a commit, `git`, `io`
 */
export async function effectInRepository(
  repository: Repository,
  { top, files, today, digests }: WorkTreeEdit,
): Promise<Effect | string> {
  const { before, after } = await editedCommits(repository, top, files);
  if (after === before) return { findings: [], diffs: [], unchecked: [] };
  const request = { base: before, head: after, ancestor: before, today, findsLayout: true };
  const report = await checkPullRequest(repository, { ...request, ...(digests ? { digests } : {}) });
  if (report.tree === undefined) return 'the policy of the repository cannot be read';
  if (report.packages.length === 0) return 'the layout of the repository has no catalog with these files';
  const { diffs, unchecked } = report;
  return { findings: report.findings.filter(({ rule }) => ABOUT_CLUSTERS.has(rule)), diffs, unchecked };
}

export interface CatalogEdit {
  /** May end with the OpenShift version that the catalog is for, as `v4.20` does. */
  readonly name: string;
  readonly before: Catalog;
  readonly after: Catalog;
  /** They tell a tag that became its own digest from another image. */
  readonly digests?: TagDigests;
}

/** Compares two states of one catalog by themselves, where there is no repository with others. */
export async function effectInCatalog({ name, before, after, digests }: CatalogEdit): Promise<Effect> {
  const platform = minorOfCatalog(name);
  const around = { name, ...(platform ? { platform } : {}), ...(digests ? { digests } : {}) };
  const options = (catalog: Catalog): WorldOptions => ({ ...around, catalog });
  const change = await changeOf(options(before), options(after));
  // The catalog exists in both states.
  const states = { severityOf: ownSeverity, before: true, after: true };
  const { findings, undecided } = foreseenIn(change, states);
  return { findings, diffs: placedDiffs(change, [name]), unchecked: undecidedParts(undecided) };
}
