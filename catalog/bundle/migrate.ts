/**
 * Bundles of a catalog that hold their manifests, with `olm.csv.metadata` in their place.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/migrations/000_bundle_object_to_csv_metadata.go
 */
import { csvTextOf } from '../fbc/cache/bundle.ts';
import { type Bundle, locate, type Property } from '../fbc/model.ts';
import type { Finding } from '../finding.ts';
import { JsonError, JsonReader } from '../go/json.ts';
import { RawJson, rawItems, withoutSpace } from '../go/json-text.ts';
import { isObject } from '../go/shape.ts';
import { parseJson } from '../json.ts';
import { csvMetadataJson } from './csv-metadata.ts';
import { BundleRefusal } from './registry-bundle.ts';

/**
 * Bundles with `olm.csv.metadata` in the place of their objects. Those without an image, or with metadata already, stay
 * as they are.
 */
export function migrateBundles(bundles: readonly Bundle[]): {
  readonly bundles: readonly Bundle[];
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const migrated = bundles.map((bundle) => {
    try {
      return migrateBundle(bundle);
    } catch (error) {
      if (!(error instanceof BundleRefusal)) throw error;
      findings.push({
        rule: error.rule,
        severity: 'error',
        message: error.message,
        location: locate(bundle),
      });
      return bundle;
    }
  });
  return { bundles: migrated, findings };
}

/**
 * The `olm.csv.metadata` that a bundle has, or that opm makes from its objects; undefined where that cannot be made. Of one
 * with both, what it has counts.
 */
export function metadataOf(bundle: Bundle): unknown {
  const own = bundle.properties.find(({ type }) => type === 'olm.csv.metadata');
  if (own) return own.value;
  try {
    const text = csvTextOf(bundle);
    return text === undefined ? undefined : parseJson(metadataJson(bundle, text));
  } catch (error) {
    if (!(error instanceof BundleRefusal)) throw error;
    return undefined;
  }
}

/** @throws BundleRefusal as {@link migrateBundle} */
function metadataJson(bundle: Bundle, text: string): string {
  const value = csvValue(text, bundle);
  return csvMetadataJson({
    group: '',
    version: '',
    kind: '',
    name: bundle.name,
    value,
    document: bundle.document,
  });
}

/**
 * Replaces a bundle's `olm.bundle.object` by `olm.csv.metadata`.
 *
 * @throws BundleRefusal when the ClusterServiceVersion does not fit its type, as in opm also where the metadata is there already
 */
function migrateBundle(bundle: Bundle): Bundle {
  const text = bundle.image === '' ? undefined : csvTextOf(bundle);
  if (text === undefined) return bundle;
  const json = metadataJson(bundle, text);
  if (bundle.properties.some(({ type }) => type === 'olm.csv.metadata')) return bundle;
  const properties: Property[] = [
    ...bundle.properties.filter(({ type }) => type !== 'olm.bundle.object'),
    { type: 'olm.csv.metadata', value: new RawJson(json) },
  ];
  const { schema, name, image, relatedImages } = bundle;
  const fields = { schema, name, package: bundle.package, image, properties, relatedImages };
  return { ...bundle, properties, value: fields };
}

/** The ClusterServiceVersion in a bundle object. @throws BundleRefusal for a text that is not JSON */
function csvValue(text: string, bundle: Bundle): Readonly<Record<string, unknown>> {
  try {
    const reader = new JsonReader(text);
    const read = reader.next();
    const rest = text.slice(reader.offset).trim();
    if (rest !== '') throw new JsonError('content follows the end of the object', reader.offset);
    const value = withRawJson(text.trim(), read?.value, RAW);
    return isObject(value) ? value : {};
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const message = `bundle ${JSON.stringify(bundle.name)}: the ClusterServiceVersion is not JSON: ${error.message}`;
    throw new BundleRefusal('csv/type', message, locate(bundle));
  }
}

/** The names of a member, or every item of a list. */
type Step = RegExp | 'each item';

/** The way to the values that Go keeps as they are spelled: those of descriptors. */
const RAW: readonly Step[] = [
  /^spec$/i,
  /^(?:customresource|apiservice)definitions$/i,
  /^(?:owned|required)$/i,
  'each item',
  /^(?:spec|status|action)descriptors$/i,
  'each item',
  /^value$/i,
];

/** A value with {@link RawJson} in the places that `way` leads to. @param raw its text */
function withRawJson(raw: string, value: unknown, way: readonly Step[]): unknown {
  const [step, ...further] = way;
  if (!step) return new RawJson(withoutSpace(raw));
  if (typeof value !== 'object' || value === null) return value;
  const items = rawItems(raw);
  if (Array.isArray(value)) {
    return step === 'each item'
      ? value.map((item, i) => withRawJson(items[i]?.text ?? '', item, further))
      : value;
  }
  if (step === 'each item') return value;
  const copy: Record<string, unknown> = { ...value };
  for (const { key, text } of items) {
    const name = parseJson(key ?? '""') as string;
    if (step.test(name)) copy[name] = withRawJson(text.trim(), copy[name], further);
  }
  return copy;
}
