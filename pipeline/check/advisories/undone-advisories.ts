/** Advisories that a merge applies or would undo, and advisory files that cannot be read. */
import { locate } from '../../../catalog/fbc/model.ts';
import type { Finding, Location } from '../../../catalog/finding.ts';
import { quoted, shellWord } from '../../../catalog/names.ts';
import { isAffected } from '../../../catalog/olm/advisory/advisory.ts';
import { rule } from '../../../catalog/rules/advisory/undone.ts';
import type { Repository } from '../../git/repository.ts';
import { entryAt } from '../../git/tree.ts';
import { advisoriesAt, concernsCatalog, type StoredAdvisory } from '../../policy/advisories.ts';
import { ADVISORIES } from '../../policy/layout.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { type CatalogResult, COMPARING } from '../content/catalog-rules.ts';
import type { Asked } from '../request.ts';
import type { LoadedCatalogs } from '../world/catalogs.ts';
import type { CheckScene } from '../world/scene.ts';
import type { TouchedCatalog } from '../world/touched-catalog.ts';
import { type CatalogPlan, plansOf } from './advisories.ts';

/**
 * Checks the advisories of the merged tree against the packages that a pull request touches. An advisory that the base
 * branch has not applied is not news.
 */
export async function checkAdvisories(
  repository: Repository,
  { scene, touched: all }: Pick<LoadedCatalogs, 'touched'> & { readonly scene: CheckScene },
  { hasPeople, ...asked }: Planning & { readonly hasPeople: boolean },
): Promise<CheckedAdvisories> {
  const { objects, policy, trees, change } = scene;
  const severity = severitiesOf(policy)(rule);
  const { advisories, findings } = await advisoriesAt(objects, trees.merged);
  const changed = new Set(change.paths.map(({ path }) => path));
  // A finding about the folder says that it has too many advisories: nobody knows which were not checked.
  const isNews = ({ location: { file } }: Finding): boolean => changed.has(file) || file === ADVISORIES;
  const undone: Finding[] = [];
  const accepted = new Set<string>();
  const touchedBy = (advisory: StoredAdvisory): TouchedCatalog[] =>
    all.filter(({ packages, names }) =>
      names.some((name) => packages.has(advisory.package) && concernsCatalog(advisory, name)),
    );
  const written = advisories.filter((one) => changed.has(one.path) && touchedBy(one).length > 0);
  const tooMany = written.length > MOST_WRITTEN ? [tooManyOf(written)] : [];
  const ofFiles = {
    findings: [...findings.filter(isNews), ...tooMany],
    known: findings.filter((finding) => !isNews(finding)),
    diffs: [],
  };
  for (const advisory of advisories) {
    const touched = touchedBy(advisory);
    if (touched.length === 0 || (tooMany.length > 0 && changed.has(advisory.path))) continue;
    const states = await bothPlans(repository, scene, { ...asked, advisory, touched });
    // A check without people asks for no approvals: then an advisory that comes with its edit excuses nothing.
    const isApproved = hasPeople || !changed.has(advisory.path);
    for (const plan of states.before.values())
      if (
        isApproved &&
        (await isApplied(scene, advisory, { before: plan, after: states.after.get(plan.catalog) }))
      )
        accepted.add(keyOf(advisory.package, plan.catalog));
    for (const one of touched) {
      const catalogs = one.names.filter((name) => isUndone(states.before.get(name), states.after.get(name)));
      if (catalogs.length > 0 && severity !== 'off')
        undone.push({ ...findingOf(advisory, one), severity, catalogs });
    }
  }
  return { results: [ofFiles, { findings: undone, known: [], diffs: [] }], soften: softenLosses(accepted) };
}

/** Advisories that a pull request may write together with changes of their packages: each takes seconds to plan. */
const MOST_WRITTEN = 50;

function tooManyOf(written: readonly StoredAdvisory[]): Finding {
  return {
    rule: 'advisory/file',
    severity: 'error',
    message: `the pull request changes ${written.length} advisories together with their packages, expected at most ${MOST_WRITTEN}`,
    location: { file: ADVISORIES, line: 1, column: 1 },
    hint: 'open several pull requests',
  };
}

/** The day of the check, and what knows the past of the catalogs. */
type Planning = Asked<'historyOf'> & { readonly today: string };

/** The findings, and a function that lowers the severity of errors that an advisory accepts. */
interface CheckedAdvisories {
  readonly results: readonly CatalogResult[];
  readonly soften: (result: CatalogResult) => CatalogResult;
}

/** Whoever approved an advisory accepted its losses, so rules about them only warn where the catalogs have the edit. */
function softenLosses(edited: ReadonlySet<string>): CheckedAdvisories['soften'] {
  const isAccepted = ({ rule: id, package: name = '', catalogs = [] }: Finding): boolean =>
    COMPARING.has(id) && catalogs.length > 0 && catalogs.every((one) => edited.has(keyOf(name, one)));
  const soften = (finding: Finding): Finding =>
    finding.severity === 'error' && isAccepted(finding) ? { ...finding, severity: 'warning' } : finding;
  return (result) => {
    const accepted = result.findings.filter((finding) => soften(finding) !== finding);
    return { ...result, findings: result.findings.map(soften), accepted };
  };
}

/** A key of a package in a catalog. */
function keyOf(name: string, catalog: string): string {
  return JSON.stringify([name, catalog]);
}

interface CatalogPlans {
  readonly before: CatalogPlan;
  /** Undefined where the merge leaves no place for the package. */
  readonly after: CatalogPlan | undefined;
}

/** Whether what the merge changes of a package in a catalog is the edit of an advisory, and nothing else. */
async function isApplied(
  { objects, policy, trees, change }: CheckScene,
  { package: name }: StoredAdvisory,
  { before, after }: CatalogPlans,
): Promise<boolean> {
  const { catalog, plan, files, refused, unaccepted, holders } = before;
  if (plan.kind !== 'edit' || refused !== undefined || unaccepted.length > 0) return false;
  const holdersAfter = after?.holders ?? NO_FILES;
  // A file that is ignored now is gone, and one that has blobs of the package now is new, whatever folder it is in.
  if ([...holders].some((path) => !files.has(path) && !holdersAfter.has(path))) return false;
  if ([...holdersAfter].some((path) => !holders.has(path))) return false;
  const own = change.paths.filter(
    ({ path, ...at }) =>
      at.catalog === catalog &&
      at.area === 'catalog' &&
      ((at.package ?? name) === name || holders.has(path) || holdersAfter.has(path)),
  );
  if (own.length === 0 || own.some(({ path }) => !files.has(path))) return false;
  for (const [path, text] of files) {
    const entry = await entryAt(objects, trees.merged, path);
    if (!entry && text === undefined) continue;
    if (!entry || text === undefined) return false;
    const { bytes } = await objects.read(entry.id, policy.limits.fileBytes);
    if (bytes.toString('utf8') !== text) return false;
  }
  return true;
}

const NO_FILES: ReadonlySet<string> = new Set();

/** An advisory, and the catalogs that have its package. */
interface Concerned {
  readonly advisory: StoredAdvisory;
  readonly touched: readonly TouchedCatalog[];
}

interface BothPlans {
  readonly before: ReadonlyMap<string, CatalogPlan>;
  readonly after: ReadonlyMap<string, CatalogPlan>;
}

/** What an advisory would change before and after the merge, by catalog. */
async function bothPlans(
  repository: Repository,
  { policy, trees: { base, merged } }: CheckScene,
  { advisory, touched, today, historyOf }: Planning & Concerned,
): Promise<BothPlans> {
  const places = touched.flatMap((one) => one.places);
  const asked = { commit: base, policy, advisory, today, historyOf, places };
  const [before, after] = await Promise.all(
    [base, merged].map((tree) => plansOf(repository, { ...asked, tree })),
  );
  const byName = (plans: typeof before) => new Map(plans?.catalogs.map((one) => [one.catalog, one]));
  return { before: byName(before), after: byName(after) };
}

/**
 * Whether a merge undoes an advisory: a catalog that did what it asks, or did not need it, no longer does.
 */
function isUndone(before: CatalogPlan | undefined, after: CatalogPlan | undefined): boolean {
  const isDone = (one: CatalogPlan | undefined): boolean =>
    !one || one.plan.kind === 'applied' || one.plan.kind === 'not affected';
  return isDone(before) && !isDone(after);
}

/** The finding about a merge that undoes an advisory: at the bundle that is back, else at a channel of the package. */
function findingOf(advisory: StoredAdvisory, { after }: TouchedCatalog): Omit<Finding, 'severity'> {
  const { id, action, package: name, versions } = advisory;
  const back = after?.blobs.bundles.find((bundle) => bundle.package === name && isAffected(advisory, bundle));
  const first = after?.blobs.channels.find((channel) => channel.package === name);
  const place = back ?? first;
  const location: Location = place ? locate(place, 'name') : { file: ADVISORIES, line: 1, column: 1 };
  const what = `the advisory ${id} (${action} ${versions.join(', ')})`;
  const message =
    back && action === 'yank'
      ? `the bundle ${quoted(back.name)} of package ${quoted(name)} is back, although ${what} removed it`
      : `the package ${quoted(name)} no longer does what ${what} asks: installations of these versions, or below, would take another upgrade path`;
  return {
    rule: rule.id,
    message,
    location,
    package: name,
    hint: `run portolan advisory apply ${shellWord(id)} on the merged files, or change the advisory first`,
  };
}
