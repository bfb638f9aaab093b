/**
 * What operator-pipelines accepts in one pull request: bundles are added one at a time, and never beside catalogs or other
 * files.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/operatorcert/parsed_file.py
 */

import { memberObject, memberText } from '../../../catalog/bundle/inspect.ts';
import { bundleFoldersIn, readOperatorFolder } from '../../../catalog/bundle/operator-folder.ts';
import { type Finding, startOf } from '../../../catalog/finding.ts';
import { quoted } from '../../../catalog/names.ts';
import { bundleChanged, bundleDeleted, pullRequest } from '../../../catalog/rules/operator/pull-requests.ts';
import { usesCatalogs } from '../../../catalog/rules/operator-checks/settings.ts';
import type { Rule } from '../../../catalog/rules/rule.ts';
import { treeSource } from '../../git/source.ts';
import { entryAt, isTree, listFiles } from '../../git/tree.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { shortList } from '../../text.ts';
import type { CheckReport } from '../report.ts';
import type { KeptOutlines } from '../world/context.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';
import { listedBundles } from './dangling.ts';

interface PullRequestChecks {
  readonly results: readonly CatalogResult[];
  readonly unchecked: CheckReport['unchecked'];
}

/** The folder of a version that a pull request changes. */
interface ChangedBundle {
  /** `<operator>/<folder>`. */
  readonly name: string;
  readonly operator: string;
  readonly folder: string;
  /** Its first file with a change. */
  readonly file: string;
  /** Whether the base branch has the bundle, and whether the merge has it. */
  readonly isBefore: boolean;
  readonly isAfter: boolean;
}

/** The parts of a pull request, each with its first file: what it changes of operators, of their catalogs, and the rest. */
interface Parts {
  readonly operators: ReadonlyMap<string, string>;
  readonly bundles: readonly ChangedBundle[];
  readonly catalogs: ReadonlyMap<string, string>;
  readonly others: readonly string[];
}

/** Checks whether the gate accepts the parts of a pull request together. The gate knows only its own layout. */
export async function checkPullRequest(scene: CheckScene, kept: KeptOutlines): Promise<PullRequestChecks> {
  const severityOf = severitiesOf(scene.policy);
  if ([bundleChanged, bundleDeleted, pullRequest].every((rule) => severityOf(rule) === 'off'))
    return { results: [], unchecked: [] };
  const findings: Finding[] = [];
  const report: Report = (rule, message, { location, ...rest }) => {
    const severity = severityOf(rule);
    if (severity !== 'off') findings.push({ rule: rule.id, severity, message, location, ...rest });
  };
  const parts = await partsOf(scene);
  reportMixture(parts, report);
  for (const { name, operator, file } of parts.bundles.filter(
    ({ isBefore, isAfter }) => isBefore && isAfter,
  )) {
    const message = `the pull request changes the bundle ${quoted(name)}, which the base branch has already`;
    const hint = 'undo the change, and add a new version';
    report(bundleChanged, message, { location: startOf(file), package: operator, hint });
  }
  const unchecked = await reportDeleted(scene, parts, { kept, report });
  return { results: [{ findings, known: [], diffs: [] }], unchecked };
}

type Report = (rule: Rule, message: string, rest: Pick<Finding, 'location' | 'package' | 'hint'>) => void;

/** Paths of a folder's files before and after the merge. */
type Sides = readonly [before: string[], after: string[]];

/** Sorts the paths of a change, as operator-pipelines does: operators, bundles, catalogs, and all else. */
async function partsOf({ objects, trees, change }: CheckScene): Promise<Parts> {
  const operators = new Map<string, string>();
  const bundles = new Map<string, ChangedBundle>();
  const catalogs = new Map<string, string>();
  const others: string[] = [];
  const filesIn = async (tree: string, path: string): Promise<string[]> => {
    const entry = await entryAt(objects, tree, path);
    return entry && isTree(entry.mode) ? (await listFiles(objects, entry.id)).map((file) => file.path) : [];
  };
  const known = new Map<string, Promise<Sides>>();
  const sidesOf = (path: string): Promise<Sides> => {
    const sides = known.get(path) ?? Promise.all([filesIn(trees.base, path), filesIn(trees.merged, path)]);
    known.set(path, sides);
    return sides;
  };
  for (const { path } of change.paths) {
    const [top = '', first = '', second = '', ...rest] = path.split('/');
    // `operators/<operator>`, or `catalogs/<version>/<operator>`.
    const folder = top === 'catalogs' ? `${top}/${first}/${second}` : `${top}/${first}`;
    const sides = second === '' ? [] : await sidesOf(folder);
    if (top === 'operators' && sides.some(isOperator)) {
      if (!operators.has(first)) operators.set(first, path);
      const [isBefore = false, isAfter = false] = sides.map((files) =>
        bundleFoldersIn(files).includes(second),
      );
      const name = `${first}/${second}`;
      if (rest.length > 0 && (isBefore || isAfter) && !bundles.has(name))
        bundles.set(name, { name, operator: first, folder: second, file: path, isBefore, isAfter });
    } else if (top === 'catalogs' && sides.some(hasCatalog)) {
      if (!catalogs.has(`${first}/${second}`)) catalogs.set(`${first}/${second}`, path);
    } else others.push(path);
  }
  return { operators, bundles: [...bundles.values()], catalogs, others };
}

/** Whether operator-pipelines takes a folder with these files as an operator's. */
function isOperator(files: readonly string[]): boolean {
  return files.includes('ci.yaml') || bundleFoldersIn(files).length > 0;
}

/** Whether operator-pipelines takes a folder with these files as an operator's catalog. */
function hasCatalog(files: readonly string[]): boolean {
  return CATALOG_FILES.some((name) => files.includes(name));
}

const CATALOG_FILES = ['catalog.yaml', 'catalog.yml', 'catalog.json'] as const;

/** Reports parts that operator-pipelines does not accept in one pull request, each at the first file that is too many. */
function reportMixture({ operators, bundles, catalogs, others }: Parts, report: Report): void {
  const added = bundles.filter(({ isBefore }) => !isBefore);
  const deleted = bundles.filter(({ isAfter }) => !isAfter);
  const kept = bundles.filter(({ isAfter }) => isAfter);
  const [firstCatalog] = catalogs.values();
  const [firstOther] = others;
  const say = (message: string, file: string | undefined, hint: string): void => {
    if (file !== undefined)
      report(pullRequest, `the pull request ${message}`, { location: startOf(file), hint });
  };
  if (operators.size > 1 && bundles.length > 0) {
    const message = `changes a bundle and several operators: ${shortList([...operators.keys()], 'operators')}`;
    say(message, [...operators.values()][1], 'open a pull request for each operator');
  }
  if (added.length > 1)
    say(`adds several bundles: ${bundleNames(added)}`, added[1]?.file, 'open a pull request for each bundle');
  if (added.length > 0 && deleted.length > 0) {
    const message = `adds ${bundleNames(added)} and deletes ${bundleNames(deleted)}`;
    say(message, added[0]?.file, 'open a pull request for what is added, and one for what is deleted');
  }
  if (kept.length > 0 && catalogs.size > 0) {
    const message = `changes ${bundleNames(kept)} and the catalogs ${shortList([...catalogs.keys()], 'catalogs')}`;
    say(message, firstCatalog, 'open a pull request for the bundle, and one for the catalogs');
  }
  if (others.length > 0 && operators.size + catalogs.size > 0) {
    const message = `changes files outside of operators and catalogs: ${shortList(others, 'files')}`;
    say(message, firstOther, 'open a pull request for these files');
  }
}

function bundleNames(bundles: readonly ChangedBundle[]): string {
  return shortList(
    bundles.map(({ name }) => name),
    'bundles',
  );
}

/**
 * Reports deleted bundles that operator-pipelines refuses: those that a catalog still lists, and all of an operator without
 * `fbc.enabled`.
 *
 * @returns what could not be checked
 */
async function reportDeleted(
  scene: CheckScene,
  { bundles }: Parts,
  { kept, report }: { readonly kept: KeptOutlines; readonly report: Report },
): Promise<CheckReport['unchecked']> {
  const deleted = bundles.filter(({ isAfter }) => !isAfter);
  const names = new Set(deleted.map(({ operator }) => operator));
  if (names.size === 0) return [];
  const { objects, trees } = scene;
  const offered = await listedBundles(scene, { tree: trees.merged, kept }, names);
  for (const name of names) {
    const path = `operators/${name}`;
    const entry = await entryAt(objects, trees.base, path);
    if (!entry) continue;
    const own = deleted.filter(({ operator }) => operator === name);
    const folder = await readOperatorFolder(treeSource(objects, entry.id), { path });
    if (!usesCatalogs(folder)) {
      const message = `the pull request deletes ${bundleNames(own)}, and ci.yaml of the operator does not have fbc.enabled: true`;
      const location = startOf(own[0]?.file ?? path);
      report(bundleDeleted, message, { location, package: name, hint: 'restore the bundle directory' });
    }
    for (const { name: bundle, folder: at, file } of own) {
      const { csv } = folder.bundles.find((one) => one.folder === at) ?? {};
      const csvName = memberText(memberObject(csv, 'metadata'), 'name');
      if (!offered.bundles.get(name)?.some((one) => one.name === csvName)) continue;
      const message = `the pull request deletes the bundle ${quoted(bundle)}, which a catalog still has`;
      const hint = `remove ${csvName} from the catalogs first`;
      report(bundleDeleted, message, { location: startOf(file), package: name, hint });
    }
  }
  if (offered.unread.size === 0) return [];
  const what = `whether catalogs still have deleted bundles of ${shortList([...names], 'packages')}`;
  const why = `some files of ${[...offered.unread].sort().join(', ')} cannot be read or are too large`;
  return [{ what, why }];
}
