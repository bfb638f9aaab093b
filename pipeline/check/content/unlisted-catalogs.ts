/** Catalogs where the layout knows of none: nothing would check them, and so they never pass. */

import { load } from '../../../catalog/fbc/load.ts';
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { rule } from '../../../catalog/rules/layout/unmatched.ts';
import type { Change } from '../../change/change.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { PathChange } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { isTemplateText } from '../../policy/template-text.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Names of files outside of catalogs' folders that may hold one. */
const FORMAT = /\.(?:ya?ml|json)$|(?:^|\/)[^./]+$/i;

/** Schemas of what opm renders: as a blob of a catalog it says nothing to clients. */
const TEMPLATE = /^olm\.(?:template\.[a-z]+|semver|composite)$/;

/**
 * What a change brings of catalogs, or takes away, in places that the layout does not know. In the folder of a catalog a
 * publish reads every file, whatever it is called.
 */
export async function findUnlistedCatalogs(
  objects: ObjectReader,
  { paths }: Change,
  policy: Policy,
): Promise<CatalogResult[]> {
  const severity = severitiesOf(policy)(rule);
  if (severity === 'off') return [];
  const strange = paths.filter(
    ({ area, path }) =>
      (area !== 'catalog' && policy.layout.serves(path)) ||
      ((area === 'unknown' || area === 'root') && FORMAT.test(path)),
  );
  await objects.prefetch(strange.flatMap((change) => fileOf(change)?.id ?? []));
  const findings: Finding[] = [];
  for (const change of strange) {
    const file = fileOf(change);
    if (!file || !(await isCatalog(objects, { id: file.id, path: change.path }, policy))) continue;
    const { path } = change;
    const message = `${path} contains catalog blobs, but no layout pattern matches it, so Portolan did not check it`;
    const hint = `add a pattern to layout.catalog in the policy, for example ${patternFor(path)}`;
    const location = { file: path, line: 1, column: 1 };
    findings.push({ rule: rule.id, severity, message, location, hint });
  }
  return [{ findings, known: [], diffs: [] }];
}

/** Paths of the templates that a change writes without the catalogs that they are rendered to: no catalog is checked. */
export async function templatesAlone(
  objects: ObjectReader,
  { paths, packages }: Change,
  { limits }: Policy,
): Promise<string[]> {
  if ([...packages.values()].some(({ catalogs }) => catalogs.length > 0)) return [];
  const found: string[] = [];
  for (const { area, path, after } of paths) {
    const isOutside = area === 'unknown' || area === 'root' || area === 'template';
    if (!isOutside || !FORMAT.test(path) || !after || whyUnreadable(after.mode) !== undefined) continue;
    const bytes = await bytesOf(objects, after.id, limits.fileBytes);
    if (bytes && isTemplateText(bytes.toString('utf8'))) found.push(path);
  }
  return found;
}

function fileOf({ before, after }: PathChange): PathChange['after'] {
  const file = after ?? before;
  return file && whyUnreadable(file.mode) === undefined ? file : undefined;
}

async function isCatalog(
  objects: ObjectReader,
  { id, path }: { readonly id: string; readonly path: string },
  { limits, layout }: Policy,
): Promise<boolean> {
  const bytes = await bytesOf(objects, id, limits.fileBytes);
  // A file that is too large to read may be a catalog.
  if (!bytes) return true;
  const file = { path: 'file', read: () => bytes };
  const { blobs } = await load({ files: () => Promise.resolve([file]) }, limits);
  const { packages, channels, bundles, deprecations, others } = blobs;
  if (layout.serves(path))
    return [...packages, ...channels, ...bundles, ...deprecations, ...others].some(
      ({ schema, package: of }) => of !== '' || (schema.startsWith('olm.') && !TEMPLATE.test(schema)),
    );
  // Rendered bundles have names: a list of bundles without names is a template.
  if (bundles.length > 0 && bundles.every(({ name }) => name === '')) return false;
  // A package without channels and bundles is not a catalog, but it may be a part of one beside it.
  return (
    channels.length + bundles.length + deprecations.length > 0 ||
    (packages.length > 0 && layout.governs(path))
  );
}

async function bytesOf(objects: ObjectReader, id: string, most: number): Promise<Buffer | undefined> {
  try {
    return (await objects.read(id, most)).bytes;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'too-large') return undefined;
    throw error;
  }
}

/** The pattern that somebody would write for a path. */
function patternFor(path: string): string {
  const names = path.split('/');
  const at = names.findIndex((name) => tryParseMinor(name) !== undefined);
  if (at >= 0 && at < names.length - 2)
    return `'${[...names.slice(0, at), '{catalog}', '{package}', '**'].join('/')}'`;
  if (at >= 0) return `'${names.map((name, i) => (i === at ? '{catalog}' : name)).join('/')}'`;
  return names.length > 2 ? `'${[...names.slice(0, -2), '{package}', '**'].join('/')}'` : `'${path}'`;
}
