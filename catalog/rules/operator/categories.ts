import { member } from '../../bundle/inspect.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/categories',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a ClusterServiceVersion without categories',
  opm: [
    "Key not found - 'metadata.annotations.categories'",
    "An empty value found - 'metadata.annotations.categories'",
  ],
  operator({ name, changed }, report) {
    for (const { folder, csv, csvFile } of changed) {
      const categories = member(csv, 'metadata', 'annotations')['categories'];
      if (!csvFile || (typeof categories === 'string' && categories !== '')) continue;
      const message = `bundle ${quoted(folder)}: the annotation categories is missing or empty`;
      report(message, csvFile.locate('metadata', 'annotations', 'categories'), {
        package: name,
        hint: 'categories: Database',
      });
    }
  },
};
