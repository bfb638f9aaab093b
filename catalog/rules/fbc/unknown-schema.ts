import { locate } from '../../fbc/model.ts';
import { nearest } from '../../spelling.ts';
import { quoted, type Rule } from '../rule.ts';

const SCHEMAS = ['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations'];

/** Templates do not belong to a catalog, but may be next to it under these names. */
const TEMPLATES = ['olm.semver', 'olm.template.basic', 'olm.template.substitutes', 'olm.composite'];

/** OLM silently ignores unknown schemas: `olm.deprecation` (without s) deprecates nothing. */
export const rule: Rule = {
  id: 'fbc/unknown-schema',
  severity: 'warning',
  summary: 'Reports schemas that start with olm. but are not known to OLM',
  check(catalog, report) {
    for (const blob of catalog.blobs.others) {
      const { schema } = blob;
      const isTemplate = TEMPLATES.includes(schema);
      if (!/^olm\./i.test(schema)) continue;
      const near = nearest(schema, SCHEMAS);
      const message = isTemplate
        ? `${quoted(schema)} is the schema of a template, not of a catalog`
        : `OLM does not know the schema ${quoted(schema)} and ignores the object`;
      const hint = isTemplate
        ? 'add the file to .indexignore, or move it out of the catalog'
        : near === undefined
          ? `OLM's schemas: ${SCHEMAS.join(', ')}`
          : `schema: ${near}`;
      report(message, locate(blob, 'schema'), { package: blob.package, hint });
    }
  },
};
