import { namedImages } from '../../references/csv.ts';
import { called, ofCsv } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/image-registry',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports an image in a ClusterServiceVersion that is not from a registry that the release policy allows',
  opm: ['The "I" CSV image reference is not from an allowed registry.'],
  inspect: ofCsv((csv, report) => {
    const seen = new Set<string>();
    for (const { image, place, path } of namedImages(csv.object.value)) {
      if (seen.has(image) || ALLOWED.some((prefix) => image.startsWith(prefix))) continue;
      seen.add(image);
      const message = `${called(csv)}: the image ${JSON.stringify(image)} (${place}) is not from an allowed registry`;
      report(message, csv.at(...path), { hint: `use an image from ${ALLOWED.join(' or ')}` });
    }
  }),
};

/** @see https://github.com/conforma/policy/blob/7211d032/policy/lib/rule_data/rule_data.rego allowed_olm_image_registry_prefixes */
const ALLOWED: readonly string[] = ['registry.access.redhat.com/', 'registry.redhat.io/'];
