/**
 * Bundles of a catalog that hold their manifests, with `olm.csv.metadata` in their place.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/migrations/000_bundle_object_to_csv_metadata.go
 */
import { csvOf } from '../cache/bundle.ts';
import type { Finding } from '../finding.ts';
import { RawJson } from '../json-text.ts';
import { type Bundle, locate, type Property } from '../model.ts';
import { csvMetadataJson } from './csv-metadata.ts';
import { BundleRefusal } from './registry-bundle.ts';

/** Bundles without an image, or with metadata already, stay as they are. */
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

/** @throws BundleRefusal when the ClusterServiceVersion does not fit its type */
function migrateBundle(bundle: Bundle): Bundle {
  const value = bundle.image === '' ? undefined : csvOf(bundle);
  if (!value) return bundle;
  const csv = { group: '', version: '', kind: '', name: bundle.name, value, document: bundle.document };
  const json = csvMetadataJson(csv);
  if (bundle.properties.some(({ type }) => type === 'olm.csv.metadata')) return bundle;
  const properties: Property[] = [
    ...bundle.properties.filter(({ type }) => type !== 'olm.bundle.object'),
    { type: 'olm.csv.metadata', value: new RawJson(json) },
  ];
  const { schema, name, image, relatedImages } = bundle;
  const fields = { schema, name, package: bundle.package, image, properties, relatedImages };
  return { ...bundle, properties, value: fields };
}
