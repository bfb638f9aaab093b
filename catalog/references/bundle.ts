/** Where bundle directories name images: in their ClusterServiceVersions. */
import { readManifestFile } from '../bundle/manifest.ts';
import type { Finding } from '../finding.ts';
import { isObject } from '../go/shape.ts';
import { tryParseReference } from '../reference.ts';
import type { CatalogSource, SourceFile } from '../source.ts';
import { namedImages } from './csv.ts';
import type { ReferenceSite } from './reference-site.ts';

/**
 * The folders of a source that are bundles of the format registry+v1: those with `manifests/` and
 * `metadata/` in them. The source itself is the empty text.
 */
export function bundleFolders(files: readonly Pick<SourceFile, 'path'>[]): readonly string[] {
  const rooms = { manifests: new Set<string>(), metadata: new Set<string>() };
  for (const { path } of files) {
    const [, folder = '', room] = /^(?:(.*)\/)?(manifests|metadata)\/[^/]+$/.exec(path) ?? [];
    if (room === 'manifests' || room === 'metadata') rooms[room].add(folder);
  }
  return [...rooms.manifests].filter((folder) => rooms.metadata.has(folder));
}

/** Reads where bundle directories name images; `folders` as `bundleFolders` finds them. */
export async function bundleSites(
  source: CatalogSource,
  folders: readonly string[],
): Promise<{ readonly sites: readonly ReferenceSite[]; readonly findings: readonly Finding[] }> {
  const rooms = new Set(folders.map((folder) => (folder === '' ? 'manifests' : `${folder}/manifests`)));
  const sites: ReferenceSite[] = [];
  const findings: Finding[] = [];
  for (const file of await source.files()) {
    const isManifest = rooms.has(file.path.slice(0, Math.max(0, file.path.lastIndexOf('/'))));
    if (!isManifest || file.unreadable !== undefined) continue;
    for (const read of readManifestFile(file.path, await file.read()).documents) {
      if (read.kind === 'value') sites.push(...sitesIn(read.value, read.document));
      else findings.push(unread(read));
    }
  }
  return { sites, findings };
}

function unread({
  message,
  location,
}: {
  readonly message: string;
  readonly location: Finding['location'];
}): Finding {
  return { rule: 'fbc/yaml', severity: 'error', message, location };
}

function sitesIn(
  csv: unknown,
  document: { locate: (path: readonly (string | number)[]) => Finding['location'] },
): ReferenceSite[] {
  if (!isObject(csv) || csv['kind'] !== 'ClusterServiceVersion') return [];
  const metadata = isObject(csv['metadata']) ? csv['metadata'] : {};
  const bundle = typeof metadata['name'] === 'string' ? metadata['name'] : '';
  return namedImages(csv).flatMap(({ image, path }): ReferenceSite[] => {
    const reference = tryParseReference(image);
    const location = document.locate(path);
    return reference ? [{ kind: 'related', written: image, reference, package: '', bundle, location }] : [];
  });
}
