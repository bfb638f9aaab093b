import { locate } from '../../fbc/model.ts';
import { nearest } from '../../spelling.ts';
import { quoted, type Rule } from '../rule.ts';

const SCHEMAS = ['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations'];

/** Templates are not part of a catalog, but may lie beside it under these names. */
const TEMPLATES = ['olm.semver', 'olm.template.basic', 'olm.template.substitutes', 'olm.composite'];

/** OLM passes over what it does not know: `olm.deprecation` deprecates nothing, and nobody hears of it. */
export const rule: Rule = {
  id: 'fbc/unknown-schema',
  severity: 'warning',
  summary: 'A schema that starts with olm. is known to OLM',
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
