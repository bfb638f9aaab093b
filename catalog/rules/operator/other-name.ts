import { usesCatalogs } from '../operator-checks/settings.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'operator/other-name',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an operator whose ClusterServiceVersions are named after different operators',
  opm: ['Bundles use multiple operator names: {N, M}'],
  operator(operator, report) {
    if (usesCatalogs(operator)) return;
    const [first, ...others] = operator.bundles.flatMap(({ name }) => (name ? [name.operator] : []));
    const other = others.find((name) => name !== first);
    if (first === undefined || other === undefined) return;
    const bundle =
      operator.changed.find(({ name }) => name?.operator === other) ??
      operator.bundles.find(({ name }) => name?.operator === other);
    const message = `the bundles of ${quoted(operator.name)} have ClusterServiceVersions of several operators: ${quoted(first)} and ${quoted(other)}`;
    const place = bundle?.csvFile?.locate('metadata', 'name');
    if (place) report(message, place, { package: operator.name, hint: `name: ${first}.v…` });
  },
};
