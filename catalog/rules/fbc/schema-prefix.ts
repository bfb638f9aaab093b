import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

/**
 * Your own schemas stand beside those of other tools.
 *
 * @see https://olm.operatorframework.io/docs/reference/file-based-catalogs/
 */
export const rule: Rule = {
  id: 'fbc/schema-prefix',
  severity: 'info',
  summary: 'Reports custom schemas that do not start with a domain that you own',
  check(catalog, report) {
    const seen = new Set<string>();
    for (const blob of catalog.blobs.others) {
      const { schema } = blob;
      if (schema.includes('.') || seen.has(schema)) continue;
      seen.add(schema);
      const message = `the custom schema ${quoted(schema)} does not start with a domain`;
      report(message, locate(blob, 'schema'), {
        package: blob.package,
        hint: `schema: com.example.${schema}`,
      });
    }
  },
};
