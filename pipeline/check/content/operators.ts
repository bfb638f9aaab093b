/** The folders of operators that a pull request changes, as other gates check them: settings, and all bundle directories. */
import { operatorFile, readOperatorFolder } from '../../../catalog/bundle/operator-folder.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runOperatorChecks } from '../../../catalog/rules/rule.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { treeSource, whyUnreadable } from '../../git/source.ts';
import { entryAt, isTree } from '../../git/tree.ts';
import { PRESETS } from '../../policy/presets/presets.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import { newsOf } from './bundles.ts';
import type { CatalogResult } from './catalog-rules.ts';

/**
 * Checks every operator's folder that changes. A defect that it had before the change is reported as known,
 * not as new.
 */
export async function checkOperators(scene: CheckScene): Promise<CatalogResult[]> {
  const severityOf = severitiesOf(scene.policy);
  if (!RULES.some((rule) => rule.operator && severityOf(rule) !== 'off')) return [];
  // From the base branch: a pull request must not choose the organization whose rules hold for it.
  const { organization } = await repositoryConfig(scene.objects, scene.trees.base);
  const results: CatalogResult[] = [];
  // One at a time: what is in memory is one operator.
  for (const folder of foldersOf(scene)) {
    const found = (tree: string): Promise<Finding[]> => findingsIn(scene, tree, { ...folder, organization });
    results.push(newsOf(await found(scene.trees.merged), await found(scene.trees.base)));
  }
  return results;
}

interface ChangedOperator {
  readonly path: string;
  /** Names of the folders in it with changes. */
  readonly changed: ReadonlySet<string>;
}

/** The folders of operators that a change touches, with the names that it touches in each. */
function foldersOf({ change, policy: { layout } }: Pick<CheckScene, 'change' | 'policy'>): ChangedOperator[] {
  const folders = new Map<string, Set<string>>();
  for (const { path } of change.paths) {
    const match = layout.match(path);
    // Files of catalogs may be in the folder as well: other checks look at them.
    if (match?.kind === 'catalog' || match?.kind === 'composite') continue;
    const folder = layout.packageFolder(path);
    if (folder === undefined) continue;
    const [first = ''] = path.slice(folder.length + 1).split('/');
    folders.set(folder, (folders.get(folder) ?? new Set()).add(first));
  }
  return [...folders]
    .map(([path, changed]) => ({ path, changed }))
    .sort((a, b) => compareText(a.path, b.path));
}

/** Findings of one operator's folder; none if the folder is not an operator's. */
async function findingsIn(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  { path, changed, organization }: ChangedOperator & { readonly organization: string | undefined },
): Promise<Finding[]> {
  const entry = await entryAt(objects, tree, path);
  if (!entry || !isTree(entry.mode)) return [];
  const operator = await readOperatorFolder(treeSource(objects, entry.id), {
    path,
    isChanged: (folder) => changed.has(folder),
    organization,
  });
  // A folder with neither is not an operator's.
  if (!operator.config && operator.bundles.length === 0) return [];
  return runOperatorChecks(operator, RULES, severitiesOf(policy));
}

/** A repository's `config.yaml`, as operator-pipelines reads it. */
interface RepositoryConfig {
  readonly organization: string | undefined;
  /** Allowed prefixes of bundle image references; empty if all are allowed. */
  readonly bundleRegistries: readonly string[];
}

/** Largest `config.yaml` that is read, in bytes. */
const CONFIG_BYTES = 1024 * 1024;

/**
 * What operator-pipelines' configuration says of the repository.
 *
 * @param tree id of a tree or commit of the base branch, so that a pull request cannot allow itself anything
 */
async function repositoryConfig(objects: ObjectReader, tree: string): Promise<RepositoryConfig> {
  const file = await entryAt(objects, tree, 'config.yaml');
  if (!file || whyUnreadable(file.mode) !== undefined)
    return { organization: undefined, bundleRegistries: [] };
  const { value } = operatorFile('config.yaml', (await objects.read(file.id, CONFIG_BYTES)).bytes);
  const settings = isObject(value) ? value : {};
  const { organization, allowed_bundle_registries: prefixes } = settings;
  return {
    organization: typeof organization === 'string' ? organization : undefined,
    bundleRegistries: Array.isArray(prefixes) ? prefixes.map(String) : [],
  };
}

/** Allowed prefixes of bundle images, one list for each preset of a policy that restricts them. */
export async function bundleRegistries({
  objects,
  trees,
  policy,
}: Pick<CheckScene, 'objects' | 'trees' | 'policy'>): Promise<(readonly string[])[]> {
  const lists: (readonly string[])[] = [];
  for (const name of policy.presets) {
    const allowed = PRESETS[name].bundleRegistries ?? [];
    lists.push(
      allowed === 'config.yaml' ? (await repositoryConfig(objects, trees.base)).bundleRegistries : allowed,
    );
  }
  return lists.filter((list) => list.length > 0);
}
