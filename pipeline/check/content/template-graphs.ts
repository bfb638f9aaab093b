/** Upgrade graphs of templates whose catalogs are not in the repository: opm refuses what is rendered from a broken one. */
import { catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { knownFrom } from '../../../catalog/rules/earlier-findings.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runRules } from '../../../catalog/rules/rule.ts';
import { inChannel, severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';
import { templateAt } from './template-scene.ts';

/**
 * Rules about channels and entries. Others cannot be checked in a template alone: its bundles have only
 * images, and other templates may complete its package.
 */
const OF_GRAPHS = /^(?:channel\/|entry\/(?!no-bundle$))/;

/**
 * Checks the channels of the templates at some paths. A defect that was there before the change is reported
 * as known.
 */
export async function checkTemplateGraphs(
  scene: CheckScene,
  paths: readonly string[],
): Promise<CatalogResult[]> {
  const { base, merged } = scene.trees;
  return Promise.all(
    paths.map(async (path) => {
      const isKnown = knownFrom(await findingsIn(scene, base, path));
      const now = await findingsIn(scene, merged, path);
      return { findings: now.filter((one) => !isKnown(one)), known: now.filter(isKnown), diffs: [] };
    }),
  );
}

/** What rules about graphs find in a template of a tree; nothing for any other file. */
async function findingsIn(scene: CheckScene, tree: string, path: string): Promise<Finding[]> {
  const blobs = await templateAt(scene, tree, path);
  if (!blobs) return [];
  const severityOf = severitiesOf(scene.policy);
  const rules = RULES.filter(({ id }) => OF_GRAPHS.test(id));
  return runRules(catalogOf(blobs), rules, severityOf).map((finding) => inChannel(scene.policy, finding));
}
