import { mappedTemplates } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/catalog-mapping',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a catalog that ci.yaml maps to two templates',
  opm: ["Operator's 'ci.yaml' contains multiple templates 'T' for the same catalog 'C'."],
  operator(operator, report) {
    const templates = new Map<string, string>();
    for (const { index, template, catalogs } of mappedTemplates(operator)) {
      for (const [i, catalog] of catalogs.entries()) {
        const other = templates.get(catalog);
        if (other === undefined) templates.set(catalog, template);
        else {
          const message = `catalog ${quoted(catalog)} has two templates in fbc.catalog_mapping: ${quoted(other)} and ${quoted(template)}`;
          const place = operator.config?.locate('fbc', 'catalog_mapping', index, 'catalog_names', i);
          const details = { package: operator.name, hint: 'remove the catalog from one of the two' };
          if (place) report(message, place, details);
        }
      }
    }
  },
};
