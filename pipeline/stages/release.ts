/**
 * From a bundle to the catalogs that offer it: what its `release-config.yaml` asks for is
 * written into templates, and every catalog that is made of them is rendered again, all in
 * one step, so that a pull request can bring the bundle and show what becomes of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EditError } from '../../catalog/edit/package.ts';
import type { Finding } from '../../catalog/finding.ts';
import { load } from '../../catalog/load.ts';
import type { Bundle } from '../../catalog/model.ts';
import { renderOrder } from '../../catalog/render.ts';
import { isObject } from '../../catalog/shape.ts';
import { expandBasic } from '../../catalog/template/basic.ts';
import { type Release, releasedBasic, releasedSemver } from '../../catalog/template/release.ts';
import { expandSemver } from '../../catalog/template/semver.ts';
import type { Expand } from '../../catalog/template/template.ts';
import { directorySource, fileError } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { isPackageName } from '../policy/layout.ts';
import { renderBundleImage } from '../render/image.ts';
import { loadBundle, type Rendering } from '../render/loaded.ts';
import { textOf } from '../render/write.ts';
import { readSettings } from '../settings.ts';
import { writeFiles } from '../write.ts';

export interface ReleaseRequest {
  /** The work tree, laid out as community repositories are. */
  readonly directory: string;
  readonly package: string;
  /** Name of the bundle's folder. */
  readonly version: string;
  /** Where the bundle is, or will be: it is read from its folder. */
  readonly image: string;
  readonly rendering: Rendering;
}

export interface Released {
  /** Paths of the files that differ now. */
  readonly changed: readonly string[];
  /** What keeps it from being released, or from being rendered; then nothing was written. */
  readonly findings: readonly Finding[];
}

/** How one kind of template takes a bundle, and becomes a catalog. */
interface Kind {
  readonly release: (text: string | undefined, release: Release) => string;
  readonly expand: Expand;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['olm.template.basic', { release: releasedBasic, expand: expandBasic }],
  ['olm.semver', { release: releasedSemver, expand: expandSemver }],
]);

/**
 * Releases a bundle of a work tree.
 *
 * @throws PipelineError `not-found`, `usage` for settings that cannot be followed, and whatever a registry answers
 */
export async function release(request: ReleaseRequest): Promise<Released> {
  const { directory, package: name, version } = request;
  if (!isPackageName(name) || /[/\\]|^\.+$/.test(version))
    throw new PipelineError('usage', `${JSON.stringify(`${name}/${version}`)} names no bundle`);
  const folder = join('operators', name, version);
  const { blobs, findings } = await loadBundle(
    directorySource(join(directory, folder)),
    {},
    { image: request.image },
  );
  const [bundle] = blobs.bundles;
  if (!bundle) return { changed: [], findings };
  const texts = new Map<string, string>();
  const wrong: Finding[] = [];
  for (const wanted of wantedOf(request, join(folder, 'release-config.yaml'))) {
    const made = await releaseInto(request, bundle, wanted);
    wrong.push(...made.findings);
    for (const [path, text] of made.texts) texts.set(path, text);
  }
  if (wrong.length > 0) return { changed: [], findings: wrong };
  const changed = [...texts].flatMap(([path, text]) => {
    const { written } = writeFiles(join(directory, dirname(path)), new Map([[basename(path), text]]));
    return written.length > 0 ? [path] : [];
  });
  return { changed, findings: [] };
}

/** One template of `release-config.yaml`, with what `ci.yaml` makes of it. */
interface Wanted {
  readonly template: string;
  readonly catalogs: readonly string[];
  readonly kind: Kind;
  readonly release: Pick<Release, 'channels' | 'replaces' | 'skips' | 'skipRange' | 'defaultChannel'>;
}

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

function wantedOf({ directory, package: name }: ReleaseRequest, path: string): Wanted[] {
  const listed = listIn(settingsAt(directory, path), 'catalog_templates');
  if (listed.length === 0) throw new PipelineError('usage', `${path} lists no catalog_templates`);
  const ciPath = join('operators', name, 'ci.yaml');
  const { fbc } = settingsAt(directory, ciPath);
  const mappings = listIn(isObject(fbc) ? fbc : {}, 'catalog_mapping');
  return listed.map((one) => {
    const template = textAt(one, 'template_name') ?? '';
    const mapping = mappings.find((other) => textAt(other, 'template_name') === template);
    if (!FILE_NAME.test(template) || !mapping)
      throw new PipelineError(
        'usage',
        `${path}: ${ciPath} has no fbc.catalog_mapping for the template ${JSON.stringify(template)}`,
      );
    const kind = KINDS.get(textAt(mapping, 'type') ?? '');
    if (!kind) {
      const kinds = [...KINDS.keys()].join(' or ');
      throw new PipelineError(
        'usage',
        `${ciPath}: the type of ${template} is ${JSON.stringify(mapping['type'])}, expected ${kinds}`,
      );
    }
    const catalogs = textsAt(mapping, 'catalog_names') ?? [];
    const odd = catalogs.find((catalog) => !FILE_NAME.test(catalog));
    if (odd !== undefined)
      throw new PipelineError('usage', `${ciPath}: ${JSON.stringify(odd)} names no catalog`);
    return { template, catalogs, kind, release: releaseOf(one, path) };
  });
}

function releaseOf(one: Fields, path: string): Wanted['release'] {
  const channels = textsAt(one, 'channels') ?? [];
  if (channels.length === 0) throw new PipelineError('usage', `${path}: a template has no channels`);
  return {
    channels,
    replaces: textAt(one, 'replaces'),
    skips: textsAt(one, 'skips'),
    skipRange: textAt(one, 'skipRange'),
    defaultChannel: textAt(one, 'default_channel'),
  };
}

async function releaseInto(
  { directory, package: name, image, rendering }: ReleaseRequest,
  bundle: Bundle,
  { template, catalogs, kind, release: asked }: Wanted,
): Promise<{ texts: Map<string, string>; findings: readonly Finding[] }> {
  const path = join('operators', name, 'catalog-templates', template);
  const before = readIfThere(join(directory, path));
  const text = edited(path, () =>
    kind.release(before, { ...asked, package: name, name: bundle.name, image }),
  );
  const folders = catalogs.map((catalog) => join('catalogs', catalog, name));
  const known = await knownBundles(directory, folders);
  known.set(image, bundle);
  const { blobs, findings } = await kind.expand({ file: path, bytes: Buffer.from(text) }, async (wanted) => {
    const rendered = known.get(wanted);
    // What a catalog holds already was rendered from the same image before.
    return rendered ? { bundle: rendered, csv: {} } : renderBundleImage(wanted, rendering);
  });
  const catalog = blobs ? textOf(renderOrder(blobs), 'yaml') : '';
  const files = folders.map((folder): [string, string] => [join(folder, 'catalog.yaml'), catalog]);
  return { texts: new Map([[path, text], ...files]), findings };
}

async function knownBundles(directory: string, folders: readonly string[]): Promise<Map<string, Bundle>> {
  const known = new Map<string, Bundle>();
  for (const folder of folders.filter((one) => existsSync(join(directory, one)))) {
    const { blobs } = await load(directorySource(join(directory, folder)));
    for (const bundle of blobs.bundles) known.set(bundle.image, bundle);
  }
  return known;
}

function edited(path: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new PipelineError('usage', `${path}: ${error.message}`, { cause: error, ...hint });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  } catch (error) {
    throw fileError(error, path);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function settingsAt(directory: string, path: string): Fields {
  const text = readIfThere(join(directory, path));
  if (text === undefined) throw new PipelineError('not-found', `there is no ${path}`);
  const { settings, findings } = readSettings(path, Buffer.from(text));
  const error = findings.find(({ severity }) => severity === 'error');
  if (error) throw new PipelineError('usage', `${path}:${error.location.line}: ${error.message}`);
  return isObject(settings?.value) ? settings.value : {};
}

function listIn(fields: Fields, key: string): Fields[] {
  const list = fields[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function textAt(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  return typeof value === 'string' ? value : undefined;
}

function textsAt(fields: Fields, key: string): string[] | undefined {
  const value = fields[key];
  return Array.isArray(value) ? value.map(String) : undefined;
}
