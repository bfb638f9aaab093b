/** ImageSetConfigurations that a pull request changes, as far as they can be checked without the catalogs that they select from. */
import type { Finding } from '../../../catalog/finding.ts';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { PathChange } from '../../git/tree.ts';
import type { CheckReport } from '../report.ts';
import type { CheckScene } from '../world/scene.ts';
import { newsOf } from './bundles.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Most files that are looked at, and bytes of one. */
const MOST_FILES = 100;
const MOST_BYTES = 256 * 1024;

interface ImageSetResults {
  readonly results: readonly CatalogResult[];
  readonly unchecked: CheckReport['unchecked'];
}

/** Finds what no mirror can be made from. It is a warning: clusters get the catalogs all the same. */
export async function checkImageSets({ objects, change }: CheckScene): Promise<ImageSetResults> {
  const files = change.paths
    .filter(({ area, path }) => area !== 'catalog' && /\.(?:ya?ml|json)$/.test(path))
    .slice(0, MOST_FILES);
  const results: CatalogResult[] = [];
  const unchecked: CheckReport['unchecked'][number][] = [];
  for (const { path, before, after } of files) {
    const now = await textOf(objects, after);
    if (now === undefined) continue;
    results.push(newsOf(defectsIn(path, now), defectsIn(path, await textOf(objects, before))));
    unchecked.push({ what: `whether the catalogs have what ${path} selects`, why: WHY });
  }
  return { results, unchecked };
}

const WHY = 'it is an ImageSetConfiguration: portolan mirror plan reads the catalogs';

/** The text of an ImageSetConfiguration; undefined for any other file. */
async function textOf(objects: ObjectReader, file: PathChange['after']): Promise<string | undefined> {
  if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
  if (((await objects.info(file.id))?.size ?? MOST_BYTES + 1) > MOST_BYTES) return undefined;
  const text = (await objects.read(file.id, MOST_BYTES)).bytes.toString('utf8');
  return /^["']?kind["']?:[ \t]*["']?(?:Delete)?ImageSetConfiguration\b/m.test(text) ? text : undefined;
}

function defectsIn(path: string, text: string | undefined): Finding[] {
  const findings = text === undefined ? [] : readImageSet(text, path, true).findings;
  return findings.flatMap((one) => (one.severity === 'error' ? [{ ...one, severity: 'warning' }] : []));
}
