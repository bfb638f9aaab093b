/** ImageSetConfigurations that a pull request changes, as far as they can be checked without the catalogs that they select from. */
import type { Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { readImageSet } from '../../../catalog/mirror/image-set.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { PathChange } from '../../git/tree.ts';
import { shortList } from '../../text.ts';
import type { CheckReport } from '../report.ts';
import type { CheckScene } from '../world/scene.ts';
import { newsOf } from './bundles.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Most bytes of an ImageSetConfiguration. */
const MOST_BYTES = 256 * 1024;

interface ImageSetResults {
  readonly results: readonly CatalogResult[];
  readonly unchecked: CheckReport['unchecked'];
}

/**
 * Finds what no mirror can be made from. It is a warning: clusters get the catalogs all the same. Any changed file may be
 * a configuration: all of them are looked at, as far as the limits of the policy go.
 */
export async function checkImageSets({ objects, change, policy }: CheckScene): Promise<ImageSetResults> {
  const files = change.paths.filter(({ area, path }) => area !== 'catalog' && /\.(?:ya?ml|json)$/.test(path));
  const results: CatalogResult[] = [];
  const unchecked: CheckReport['unchecked'][number][] = [];
  const unread: string[] = [];
  const { fileBytes, contextBytes } = policy.limits;
  let bytesLeft = contextBytes;
  for (const { path, before, after } of files) {
    if (!after || whyUnreadable(after.mode) !== undefined) continue;
    const size = (await objects.info(after.id))?.size ?? 0;
    if (size > Math.min(fileBytes, bytesLeft)) {
      unread.push(path);
      continue;
    }
    // Any file counts: only reading it shows whether it is a configuration.
    bytesLeft -= size;
    const now = await textOf(objects, after, fileBytes);
    if (now === undefined) continue;
    const isLarge = size > MOST_BYTES;
    if (!isLarge)
      results.push(newsOf(defectsIn(path, now), defectsIn(path, await textOf(objects, before, MOST_BYTES))));
    const why = isLarge
      ? `it has ${size} bytes; ImageSetConfigurations of up to ${MOST_BYTES} are read`
      : WHY;
    unchecked.push({ what: `whether the catalogs have what ${path} selects`, why });
  }
  if (unread.length > 0)
    unchecked.push({
      what: `whether ImageSetConfigurations are in ${shortList(unread, 'files')}`,
      why: 'the changed files are larger than limits.fileBytes or limits.contextBytes of the policy',
    });
  return { results, unchecked };
}

const WHY = 'it is an ImageSetConfiguration: portolan mirror plan reads the catalogs';

/** The text of an ImageSetConfiguration; undefined for any other file. */
async function textOf(
  objects: ObjectReader,
  file: PathChange['after'],
  most: number,
): Promise<string | undefined> {
  if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
  // A file of unknown size counts as too large.
  if (((await objects.info(file.id))?.size ?? most + 1) > most) return undefined;
  const { bytes } = await objects.read(file.id, most);
  if (!bytes.includes('ImageSetConfiguration')) return undefined;
  const text = bytes.toString('utf8');
  return KIND.test(text) || isOfKind(parsedJson(text)) ? text : undefined;
}

/** Such as `kind: ImageSetConfiguration`, on a line of its own in YAML. */
const KIND = /^["']?kind["']?:[ \t]*["']?(?:Delete)?ImageSetConfiguration\b/m;

function isOfKind(value: unknown): boolean {
  return isObject(value) && /^(?:Delete)?ImageSetConfiguration$/.test(String(value['kind']));
}

/** What makes a configuration invalid, as warnings: clusters get the catalogs all the same. */
function defectsIn(path: string, text: string | undefined): Finding[] {
  const findings = text === undefined ? [] : readImageSet(text, path, true).findings;
  return findings.flatMap((one) => (one.severity === 'error' ? [{ ...one, severity: 'warning' }] : []));
}
