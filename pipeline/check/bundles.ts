/** The bundle directories that a pull request brings or changes. */
import { inspectedBundle } from '../../catalog/bundle/inspect.ts';
import { isInSuite } from '../../catalog/bundle/suite.ts';
import { compareText, type Finding } from '../../catalog/finding.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { runInspection, type SeverityOf } from '../../catalog/rules/rule.ts';
import { gzipLength } from '../bundle/judge.ts';
import { treeSource } from '../git/source.ts';
import { entryAt, isTree } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import { settingOf, severitiesOf } from '../policy/severity.ts';
import type { CheckScene } from './catalogs.ts';
import type { Judgement } from './judge.ts';

interface BundleFolder {
  readonly path: string;
  readonly package: string;
}

/** Judges every bundle directory that changes; what it had before the change is known. */
export async function judgeBundles(scene: Omit<CheckScene, 'reader'>): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  // One at a time: what is in memory is one bundle.
  for (const folder of foldersOf(scene)) {
    const now = await findingsIn(scene, scene.trees.merged, folder);
    const before = new Set((await findingsIn(scene, scene.trees.base, folder)).map(sameness));
    const isNews = (finding: Finding): boolean => !before.has(sameness(finding));
    judgements.push({
      findings: now.filter(isNews),
      known: now.filter((finding) => !isNews(finding)),
      diffs: [],
    });
  }
  return judgements;
}

function foldersOf({ change, policy }: Pick<CheckScene, 'change' | 'policy'>): BundleFolder[] {
  const folders = new Map<string, BundleFolder>();
  for (const { path } of change.paths) {
    const match = policy.layout.match(path);
    if (match?.kind !== 'bundle' || match.version === undefined || match.package === undefined) continue;
    const names = path.split('/');
    const at = names.indexOf(match.version, names.indexOf(match.package) + 1);
    const folder = names.slice(0, at + 1).join('/');
    folders.set(folder, { path: folder, package: match.package });
  }
  return [...folders.values()].sort((a, b) => compareText(a.path, b.path));
}

async function findingsIn(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  { path, package: name }: BundleFolder,
): Promise<Finding[]> {
  const entry = await entryAt(objects, tree, path);
  if (!entry || !isTree(entry.mode)) return [];
  const folders = await objects.tree(entry.id);
  if (!folders.some(({ name: folder }) => folder === 'manifests' || folder === 'metadata')) return [];
  const bundle = await inspectedBundle(treeSource(objects, entry.id), { gzipLength });
  return runInspection(bundle, RULES, countedSeverities(policy)).map((finding) => ({
    ...finding,
    package: name,
    location: { ...finding.location, file: `${path}/${finding.location.file}` },
  }));
}

/** What OLM v0 needs of a bundle counts everywhere; what others ask for where the policy names it. */
function countedSeverities(policy: Policy): SeverityOf {
  const severityOf = severitiesOf(policy);
  return (rule) => (isInSuite(rule.id, 'default') || settingOf(policy, rule.id) ? severityOf(rule) : 'off');
}

/** Two findings are the same whatever line they stand on. */
function sameness({ rule, message, location }: Finding): string {
  return JSON.stringify([rule, message, location.file]);
}
