/** A package that is so far only a list of versions. */

import { type Catalog, catalogOf, type PackageBlob } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { formatVersion, tryParseVersion } from '../../version/version.ts';

/** Why a list cannot be read. */
export class VersionListError extends Error {}

/**
 * Reads lines `VERSION [NAME [IMAGE]]`; a bundle without a name is called `PACKAGE.vVERSION`. Empty lines and what
 * follows `#` are ignored.
 *
 * @throws VersionListError
 */
export function readVersionList(ofPackage: string, text: string): Catalog {
  const document = newDocument({ file: '', line: 1, column: 1 });
  const names = new Set<string>();
  const bundles = text.split('\n').flatMap((line, i) => {
    const [version = '', name = `${ofPackage}.v${version}`, image = '', ...more] =
      withoutComment(line).split(/\s+/);
    if (version === '') return [];
    const parsed = tryParseVersion(version);
    if (!parsed) throw new VersionListError(`line ${i + 1}: ${JSON.stringify(version)} is not a version`);
    if (more.length > 0) throw new VersionListError(`line ${i + 1}: expected VERSION [NAME [IMAGE]]`);
    if (names.has(name)) throw new VersionListError(`line ${i + 1}: the bundle ${name} is listed twice`);
    names.add(name);
    const properties = [
      { type: 'olm.package', value: { packageName: ofPackage, version: formatVersion(parsed) } },
    ];
    const made = newBlob({ schema: 'olm.bundle', package: ofPackage, name, image, properties }, document);
    return made.kind === 'bundle' ? [made.blob] : [];
  });
  if (bundles.length === 0) throw new VersionListError('it lists no versions');
  const made = newBlob({ schema: 'olm.package', name: ofPackage, defaultChannel: '' }, document);
  const packages: PackageBlob[] = made.kind === 'package' ? [made.blob] : [];
  return catalogOf({ packages, channels: [], bundles, deprecations: [], others: [] });
}

function withoutComment(line: string): string {
  return (line.split('#', 1)[0] ?? '').trim();
}
