/**
 * A bundle as the `olm.bundle` blob that opm renders of it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/render.go
 */

import type { Bundle } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { RawJson } from '../go/json-text.ts';
import { parseJson } from '../json.ts';
import { tryParseVersion } from '../version/version.ts';
import { csvMetadataJson } from './csv-metadata.ts';
import type { ImageTemplate } from './image-template.ts';
import { type RenderedProperty, renderedProperties, templateVersion } from './properties.ts';
import { BundleRefusal, type RegistryBundle } from './registry-bundle.ts';
import { relatedImagesOf } from './related-images.ts';

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

/** @throws BundleRefusal */
function bundleBlob(bundle: RegistryBundle, options: BundleRenderOptions): Bundle {
  const { csv, name } = bundle;
  const image = options.imageTemplate
    ? options.imageTemplate({ Package: bundle.package, Name: name, Version: templateVersion(bundle) })
    : (options.image ?? '');
  const rendered = renderedProperties(bundle);
  const relatedImages = relatedImagesOf(csv, image);
  // opm keeps the manifests of a bundle without an image: nothing else has them.
  const migrates = options.migrateLevel === 'bundle-object-to-csv-metadata' && image !== '';
  const properties = (migrates ? migrated(rendered, bundle) : rendered).map(({ type, json }) => ({
    type,
    value: new RawJson(json),
  }));
  const packageJson = rendered.find(({ type }) => type === 'olm.package')?.json ?? '{}';
  const { version = '', release = '' } = parseJson(packageJson) as { version?: string; release?: string };
  const fields = { schema: 'olm.bundle', name, package: bundle.package, image, properties, relatedImages };
  return { ...fields, value: fields, document: csv.document, version: tryParseVersion(version), release };
}

/** A bundle that has its metadata already keeps its manifests. */
function migrated(properties: readonly RenderedProperty[], { csv }: RegistryBundle): RenderedProperty[] {
  const json = csvMetadataJson(csv);
  if (properties.some(({ type }) => type === 'olm.csv.metadata')) return [...properties];
  return [
    ...properties.filter(({ type }) => type !== 'olm.bundle.object'),
    { type: 'olm.csv.metadata', json },
  ];
}
