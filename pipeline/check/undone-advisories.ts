/** Advisories that a merge would undo, and advisory files that cannot be read. */
import { locate } from '../../catalog/fbc/model.ts';
import type { Finding, Location } from '../../catalog/finding.ts';
import { quoted } from '../../catalog/names.ts';
import { isAffected } from '../../catalog/olm/advisory/advisory.ts';
import { rule } from '../../catalog/rules/advisory/undone.ts';
import { ADVISORIES, advisoriesAt, concernsCatalog, type StoredAdvisory } from '../policy/advisories.ts';
import { severitiesOf } from '../policy/severity.ts';
import { type CatalogPlan, plansOf } from './advisories.ts';
import type { CatalogResult } from './catalog-rules.ts';
import type { TouchedCatalog } from './catalogs.ts';
import type { LoadedPull } from './findings.ts';

/**
 * Checks the advisories of the merged tree against the packages that a pull request touches. An advisory that the base
 * branch has not applied is not news.
 */
export async function undoneAdvisories(pull: LoadedPull): Promise<CatalogResult[]> {
  const { objects, after, policy } = pull;
  const severity = severitiesOf(policy)(rule);
  const { advisories, findings } = await advisoriesAt(objects, after.trees.merged);
  const changed = new Set(after.change.paths.map(({ path }) => path));
  const isNews = ({ location }: Finding): boolean => changed.has(location.file);
  const unread = {
    findings: findings.filter(isNews),
    known: findings.filter((finding) => !isNews(finding)),
    diffs: [],
  };
  if (severity === 'off') return [unread];
  const undone: Finding[] = [];
  for (const advisory of advisories) {
    const touched = pull.touched.filter(({ packages, names }) =>
      names.some((name) => packages.has(advisory.package) && concernsCatalog(advisory, name)),
    );
    if (touched.length === 0) continue;
    const states = await bothPlans(pull, advisory);
    for (const one of touched) {
      const catalogs = one.names.filter((name) => isUndone(states.before.get(name), states.after.get(name)));
      if (catalogs.length > 0) undone.push({ ...findingOf(advisory, one), severity, catalogs });
    }
  }
  return [unread, { findings: undone, known: [], diffs: [] }];
}

interface BothPlans {
  readonly before: ReadonlyMap<string, CatalogPlan>;
  readonly after: ReadonlyMap<string, CatalogPlan>;
}

async function bothPlans(pull: LoadedPull, advisory: StoredAdvisory): Promise<BothPlans> {
  const { repository, policy, base, after, request } = pull;
  const asked = { commit: base, policy, advisory, today: request.today, historyOf: request.historyOf };
  const [before, then] = await Promise.all(
    [base, after.trees.merged].map((tree) => plansOf(repository, { ...asked, tree })),
  );
  const byName = (plans: typeof before) => new Map(plans?.catalogs.map((one) => [one.catalog, one]));
  return { before: byName(before), after: byName(then) };
}

function isUndone(before: CatalogPlan | undefined, after: CatalogPlan | undefined): boolean {
  const isDone = (one: CatalogPlan | undefined): boolean =>
    !one || one.plan.kind === 'applied' || one.plan.kind === 'not affected';
  return isDone(before) && !isDone(after);
}

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
    hint: `run portolan advisory apply ${id} on the merged files, or change the advisory first`,
  };
}
