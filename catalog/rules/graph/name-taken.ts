import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/name-taken',
  severity: 'error',
  summary:
    'Reports new packages whose name another catalog has already (graph.companions, graph.otherCatalogs)',
  reads: ['catalogs'],
  compare(change, report) {
    const effect = change.after.olm.has('v1')
      ? 'OLM v1 installs neither unless the extension selects a catalog'
      : 'OLM v0 may install either for operators that require it';
    for (const name of change.packages) {
      const location = placeOfPackage(change.after, name);
      if (!location || change.before.catalog.packages.has(name)) continue;
      const others = [...change.after.companions].flatMap(([other, catalog]) =>
        catalog.packages.has(name) ? [quoted(other)] : [],
      );
      if (others.length === 0) continue;
      const message = `package ${quoted(name)} is new, but ${others.join(' and ')} on the same clusters has a package with this name: ${effect}`;
      report(message, location, { package: name, hint: 'choose a name that no other catalog has' });
    }
  },
};
