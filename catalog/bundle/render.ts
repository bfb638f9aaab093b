/**
 * A bundle as the `olm.bundle` blob that opm renders of it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go
 */
import type { Bundle, RelatedImage } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { RawJson } from '../go/json-text.ts';
import { isObject, listOf, structShape, text } from '../go/shape.ts';
import { parseJson } from '../json.ts';
import { tryParseVersion } from '../version/version.ts';
import { csvMetadataJson } from './csv-metadata.ts';
import { CSV_DEPLOYMENTS } from './csv-shape.ts';
import { type RenderedProperty, renderedProperties, templateVersion } from './properties.ts';
import { type BundleObject, BundleRefusal, fitObject, type RegistryBundle } from './registry-bundle.ts';

export interface BundleRenderOptions {
  /** Reference of the bundle's image; a directory has none. */
  readonly image?: string;
  /** Makes up the reference of the bundle's image. */
  readonly imageTemplate?: ImageTemplate;
  /** `bundle-object-to-csv-metadata` replaces the manifests of a bundle that has an image. */
  readonly migrateLevel?: 'none' | 'bundle-object-to-csv-metadata';
}

export interface RenderedBundle {
  /** Undefined when opm refuses to render it. */
  readonly blob: Bundle | undefined;
  readonly findings: readonly Finding[];
}

/** Renders a bundle. Values of properties are {@link RawJson}: opm keeps their spelling. */
export function renderBundle(bundle: RegistryBundle, options: BundleRenderOptions = {}): RenderedBundle {
  try {
    return { blob: bundleBlob(bundle, options), findings: [] };
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    const { rule, message, location } = error;
    return { blob: undefined, findings: [{ rule, severity: 'error', message, location }] };
  }
}

/** The `olm.bundle` blob that `opm render` makes from a bundle. @throws BundleRefusal */
function bundleBlob(bundle: RegistryBundle, options: BundleRenderOptions): Bundle {
  const { csv, name } = bundle;
  const image = options.imageTemplate
    ? options.imageTemplate({ Package: bundle.package, Name: name, Version: templateVersion(bundle) })
    : (options.image ?? '');
  const rendered = renderedProperties(bundle);
  const relatedImages = relatedImagesOf(csv, image);
  // opm keeps the manifests of a bundle without an image: nothing else has them.
  const migrates = options.migrateLevel === 'bundle-object-to-csv-metadata' && image !== '';
  const properties = (migrates ? withMetadata(rendered, bundle) : rendered).map(({ type, json }) => ({
    type,
    value: new RawJson(json),
  }));
  const packageJson = rendered.find(({ type }) => type === 'olm.package')?.json ?? '{}';
  const { version = '', release = '' } = parseJson(packageJson) as { version?: string; release?: string };
  const fields = { schema: 'olm.bundle', name, package: bundle.package, image, properties, relatedImages };
  return { ...fields, value: fields, document: csv.document, version: tryParseVersion(version), release };
}

/** A bundle that has its metadata already keeps its manifests. */
function withMetadata(properties: readonly RenderedProperty[], { csv }: RegistryBundle): RenderedProperty[] {
  const json = csvMetadataJson(csv);
  if (properties.some(({ type }) => type === 'olm.csv.metadata')) return [...properties];
  return [
    ...properties.filter(({ type }) => type !== 'olm.bundle.object'),
    { type: 'olm.csv.metadata', json },
  ];
}

// The images that a catalog lists for a bundle.
//
// @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go

const RELATED = structShape('registry.csvSpec', {
  relatedImages: listOf(structShape('declcfg.RelatedImage', { name: text, image: text })),
});

/**
 * What the ClusterServiceVersion lists, the bundle's own image, and what its deployments run.
 *
 * @param image reference of the bundle's image, or the empty string
 * @throws BundleRefusal
 */
export function relatedImagesOf(csv: BundleObject, image: string): RelatedImage[] {
  const spec = isObject(csv.value['spec']) ? csv.value['spec'] : {};
  const listed = fitObject(csv, RELATED, { relatedImages: spec['relatedImages'] ?? [] })['relatedImages'];
  const images = (Array.isArray(listed) ? listed : []).map((item) => ({
    name: String(item?.name ?? ''),
    image: String(item?.image ?? ''),
  }));
  const known = new Set(images.map((related) => related.image));
  // The bundle's own image is not remembered as known, so a deployment that runs it lists it once more.
  if (image !== '' && !known.has(image)) images.push({ name: '', image });
  for (const run of new Set(operatorImages(csv))) {
    if (!known.has(run)) images.push({ name: '', image: run });
  }
  return images;
}

/** Images of the containers that the operator's deployments run, those without an image as empty text. */
function operatorImages(csv: BundleObject): string[] {
  const install = member(fitObject(csv, CSV_DEPLOYMENTS, csv.value['spec'] ?? {}), 'Install');
  // The only strategy that opm looks for images in.
  if (install['strategy'] !== 'deployment') return [];
  return list(member(install, 'spec')['Deployments']).flatMap((deployment) => {
    const pod = member(member(member(deployment, 'Spec'), 'template'), 'spec');
    const containers = [...list(pod['containers']), ...list(pod['initContainers'])];
    return containers.map((container) => String(container['image'] ?? ''));
  });
}

type Fields = Readonly<Record<string, unknown>>;

function member(value: Fields, key: string): Fields {
  const found = value[key];
  return isObject(found) ? found : {};
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}

// Templates for the image of a bundle, such as
// `quay.io/example/{{.Package}}-bundle:v{{.Version}}`.

/** What a template may name. */
interface TemplateFields {
  readonly Package: string;
  readonly Name: string;
  readonly Version: string;
}

export type ImageTemplate = (fields: TemplateFields) => string;

/** `{{.Package}}`, with the white space around it, which the dashes of `{{- .Package -}}` remove. */
const ACTION = /(\s*)\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}(\s*)/gs;
const FIELD = /^\.(Package|Name|Version)$/;

/**
 * Reads a template in Go's syntax. Only fields can be named: nothing calls a function.
 *
 * @throws SyntaxError
 */
export function parseImageTemplate(text: string): ImageTemplate {
  const rest = text.replaceAll(ACTION, '');
  if (rest.includes('{{')) throw new SyntaxError(`the template ${JSON.stringify(text)} has an unclosed {{`);
  for (const [, , , action = ''] of text.matchAll(ACTION)) {
    if (FIELD.test(action) || isComment(action)) continue;
    const fields = '{{.Package}}, {{.Name}} or {{.Version}}';
    throw new SyntaxError(`the template ${JSON.stringify(text)} has {{${action}}}, expected ${fields}`);
  }
  return (fields) =>
    text.replaceAll(ACTION, (_, before, trimBefore, action: string, trimAfter, after) => {
      const name = FIELD.exec(action)?.[1] as keyof TemplateFields | undefined;
      return `${trimBefore ? '' : before}${name ? fields[name] : ''}${trimAfter ? '' : after}`;
    });
}

function isComment(action: string): boolean {
  return /^\/\*.*\*\/$/s.test(action);
}
