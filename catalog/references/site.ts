/**
 * Where a catalog, a template or a composite names images: each place with what stands
 * there and whose it is.
 *
 * @see https://olm.operatorframework.io/docs/reference/catalog-templates/
 */
import { readManifestFile } from '../bundle/manifest.ts';
import { headOf } from '../fbc/channel.ts';
import { catalogFiles, type LoadLimits, type Visitor, visitBlobs } from '../fbc/load.ts';
import type { Blob, Bundle, Channel } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { foldCase, isObject, type Path } from '../go/shape.ts';
import { ownText } from '../go/text.ts';
import {
  formatReference,
  type Reference,
  type ReferenceSite,
  type SiteKind,
  tryParseReference,
} from '../reference.ts';
import type { CatalogSource, SourceFile } from '../source.ts';
import { namedImages, supportedPlatforms } from './csv.ts';

/** The places of a catalog in the order of reading; `findings` say what could not be read. */
interface Sites {
  readonly sites: readonly ReferenceSite[];
  /** On which platforms packages say that they run, by package; empty when nobody asked. */
  readonly supports: ReadonlyMap<string, Support>;
  readonly findings: readonly Finding[];
}

interface SitesOptions {
  readonly limits?: LoadLimits;
  /** Whether the platforms are read too, which means to read every manifest. */
  readonly supports?: boolean;
}

/** Reads where a catalog, a folder of templates or bundle directories name images. Text that is not a reference is left to the rule that reports it. */
export async function referenceSites(
  source: CatalogSource,
  { limits, supports = false }: SitesOptions = {},
): Promise<Sites> {
  const bundles = await bundleSites(await catalogFiles(source));
  let isCatalog = bundles === undefined;
  const collector = createCollector();
  const support = createSupportCollector();
  const visitor: Visitor = {
    bundle: (bundle) => {
      isCatalog = true;
      collector.bundle(bundle);
      if (supports) support.bundle(bundle);
    },
    other: (blob) => {
      collector.other(blob);
      support.other(blob);
    },
  };
  const readingFindings = await visitBlobs(source, visitor, limits);
  const sites = [...collector.sites, ...(bundles?.sites ?? [])];
  // A folder of bundles holds files of other tools. Only if there are blobs of bundles, too, all of it is a catalog.
  const findings = isCatalog ? readingFindings : (bundles?.findings ?? []);
  return { sites, supports: support.supports(), findings };
}

/** The places in bundles that are loaded already. */
export function sitesOf(bundles: readonly Bundle[]): readonly ReferenceSite[] {
  const collector = createCollector();
  for (const bundle of bundles) collector.bundle(bundle);
  return collector.sites;
}

/** The key under which a reference is looked up: a tag in full, a digest without a tag beside it. */
export function lookupKey(reference: Reference): string {
  if (reference.kind === 'tag') return formatReference(reference);
  const { registry, repository, digest } = reference;
  return formatReference({ kind: 'digest', registry, repository, digest });
}

interface Collector {
  readonly sites: readonly ReferenceSite[];
  bundle(bundle: Bundle): void;
  other(blob: Blob): void;
}

/** Collects the image references of blobs with their places, as the blobs are read. */
function createCollector(): Collector {
  const sites: ReferenceSite[] = [];
  // The same references and names stand in many places: each text is copied and read once.
  const texts = new Map<string, { readonly own: string; readonly reference: Reference | undefined }>();
  const read = (text: string): { own: string; reference: Reference | undefined } => {
    const known = texts.get(text);
    if (known) return known;
    const own = ownText(text);
    const fresh = { own, reference: tryParseReference(own) };
    texts.set(own, fresh);
    return fresh;
  };
  const add = (blob: Blob, path: Path, found: Found): void => {
    const { own: written, reference } = read(found.written);
    if (!reference) return;
    const { document } = blob;
    const names = { package: read(found.package).own, bundle: read(found.bundle).own };
    sites.push({ kind: found.kind, written, reference, ...names, location: document.locate(path) });
  };
  return {
    sites,
    bundle: (bundle) => {
      const names = { package: bundle.package, bundle: bundle.name };
      if (bundle.image !== '') add(bundle, ['image'], { kind: 'bundle', written: bundle.image, ...names });
      for (const [i, { image }] of bundle.relatedImages.entries()) {
        if (image === '') continue;
        // The bundle's own image is listed among the others; it is never run.
        const kind = image === bundle.image ? 'bundle' : 'related';
        add(bundle, ['relatedImages', i, 'image'], { kind, written: image, ...names });
      }
    },
    other: (blob) => {
      const names = { package: blob.package, bundle: '' };
      for (const { path, kind, written } of imagesIn(blob.value, isTemplate(blob))) {
        add(blob, path, { kind, written, ...names });
      }
    },
  };
}

type Found = Pick<ReferenceSite, 'kind' | 'written' | 'package' | 'bundle'>;

/** Templates hold bundles inside of them; of other schemas only what stands at the top can mean an image. */
function isTemplate({ schema }: Blob): boolean {
  return /^olm\.(?:template\.|semver|composite)/.test(schema);
}

/** What stands where a blob names images, references or not. */
export function imagesOf(blob: Blob): InnerImage[] {
  return imagesIn(blob.value, isTemplate(blob));
}

interface InnerImage {
  readonly path: Path;
  readonly kind: SiteKind;
  readonly written: string;
}

/** Keys under which images stand, whatever the case of their letters, as Go reads them. */
const KINDS: ReadonlyMap<string, SiteKind> = new Map([
  ['image', 'bundle'],
  ['baseimage', 'base'],
]);

/**
 * The images in a value. Values may be many and deep: a path is copied only where an image is.
 *
 * @param deep whether to look for bundles inside of it, as in a template; without, only its own keys count
 */
function imagesIn(root: unknown, deep: boolean): InnerImage[] {
  const found: InnerImage[] = [];
  const path: (string | number)[] = [];
  const inside = (key: string | number, visit: () => void): void => {
    path.push(key);
    visit();
    path.pop();
  };
  const visit = (value: unknown, isDeep: boolean, list?: 'related' | 'substitutions'): void => {
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) inside(i, () => visit(item, isDeep, list));
      return;
    }
    if (!isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const name = foldCase(key);
      // The name of a substitution is the image that takes the place of a bundle.
      const kind = list === 'substitutions' && name === 'name' ? 'bundle' : KINDS.get(name);
      inside(key, () => {
        if (kind !== undefined && typeof inner === 'string')
          found.push({ path: [...path], kind: list === 'related' ? list : kind, written: inner });
        else if (name === 'relatedimages' && Array.isArray(inner)) visit(inner, false, 'related');
        else if (isDeep && name === 'substitutions' && Array.isArray(inner)) visit(inner, isDeep, name);
        // Properties hold data of any schema: a key `image` in them need not mean an image.
        else if (isDeep && name !== 'properties') visit(inner, isDeep);
      });
    }
  };
  visit(root, deep);
  return found;
}

// Where bundle directories name images: in their ClusterServiceVersions.

/**
 * The folders of a source that are bundles of the format registry+v1: those with `manifests/` and
 * `metadata/` in them. The source itself is the empty text.
 */
function bundleFolders(files: readonly Pick<SourceFile, 'path'>[]): readonly string[] {
  const folders = { manifests: new Set<string>(), metadata: new Set<string>() };
  for (const { path } of files) {
    const [, folder = '', part] = /^(?:(.*)\/)?(manifests|metadata)\/[^/]+$/.exec(path) ?? [];
    if (part === 'manifests' || part === 'metadata') folders[part].add(folder);
  }
  return [...folders.manifests].filter((folder) => folders.metadata.has(folder));
}

/** Reads where bundle directories among the files name images; undefined if there are none. */
async function bundleSites(
  files: readonly SourceFile[],
): Promise<{ readonly sites: readonly ReferenceSite[]; readonly findings: readonly Finding[] } | undefined> {
  const folders = bundleFolders(files);
  if (folders.length === 0) return undefined;
  const manifestFolders = new Set(
    folders.map((folder) => (folder === '' ? 'manifests' : `${folder}/manifests`)),
  );
  const sites: ReferenceSite[] = [];
  const findings: Finding[] = [];
  for (const file of files) {
    const isManifest = manifestFolders.has(file.path.slice(0, Math.max(0, file.path.lastIndexOf('/'))));
    if (!isManifest || file.unreadable !== undefined) continue;
    for (const read of readManifestFile(file.path, await file.read()).documents) {
      if (read.kind !== 'value') findings.push(readingFinding(read));
      else for (const site of sitesIn(read.value, read.document)) sites.push(site);
    }
  }
  return { sites, findings };
}

/** The finding of a manifest that cannot be read. */
function readingFinding({
  message,
  location,
}: {
  readonly message: string;
  readonly location: Finding['location'];
}): Finding {
  return { rule: 'fbc/yaml', severity: 'error', message, location };
}

/** The image references in a ClusterServiceVersion, with their places; none in other manifests. */
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

// On which platforms packages say that they run. Only the head of the default channel speaks for
// a package: OLM v0's package server reads the labels there.

export interface Support {
  /** Name of the bundle that says so. */
  readonly bundle: string;
  /** `os/architecture`. */
  readonly platforms: readonly string[];
}

/** Notes what packages say while their blobs go by. */
interface SupportCollector {
  bundle(bundle: Bundle): void;
  other(blob: Blob): void;
  /** By package; those of which nothing is known are missing. */
  supports(): ReadonlyMap<string, Support>;
}

/** Collects, as blobs are read, on which platforms the head of each package's default channel says that it runs. */
function createSupportCollector(): SupportCollector {
  const defaults = new Map<string, string>();
  const heads = new Map<string, string>();
  const platforms = new Map<string, readonly string[]>();
  const key = (...names: readonly string[]): string => JSON.stringify(names);
  return {
    bundle: (bundle) => {
      const supported = supportedPlatforms(bundle);
      if (supported) platforms.set(key(bundle.package, bundle.name), supported.map(ownText));
    },
    other: (blob) => {
      if (isChannel(blob)) heads.set(key(blob.package, blob.name), ownText(headOf(blob)?.name ?? ''));
      else if (blob.schema === 'olm.package') {
        const { defaultChannel } = blob.value;
        if (typeof defaultChannel === 'string') defaults.set(ownText(blob.name), ownText(defaultChannel));
      }
    },
    supports: () => {
      const found = [...defaults].flatMap(([name, channel]): [string, Support][] => {
        const bundle = heads.get(key(name, channel)) ?? '';
        const supported = platforms.get(key(name, bundle));
        return supported ? [[name, { bundle, platforms: supported }]] : [];
      });
      return new Map(found);
    },
  };
}

/** Whether a place names an image that must run where a package says that it does: all but the bundle itself. */
export function runsFor(
  { kind, package: name, bundle }: ReferenceSite,
  supports: ReadonlyMap<string, Support>,
): boolean {
  return kind === 'related' && bundle !== '' && supports.get(name)?.bundle === bundle;
}

function isChannel(blob: Blob): blob is Channel {
  return blob.schema === 'olm.channel' && 'entries' in blob;
}
