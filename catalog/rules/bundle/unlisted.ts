import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'bundle/unlisted',
  severity: 'error',
  summary: 'Reports bundles that are an entry of no channel',
  opm: ['package "p", bundle "b" not found in any channel entries'],
  check(catalog, report) {
    for (const { blob, bundles, channels } of catalog.packages.values()) {
      if (!blob) continue;
      const listed = new Set(
        [...channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
      );
      for (const bundle of bundles.values()) {
        if (listed.has(bundle.name)) continue;
        const message = `bundle ${quoted(bundle.name)} of package ${quoted(bundle.package)} is not an entry of any channel`;
        const hint = `add to a channel's entries: - name: ${bundle.name}`;
        report(message, locate(bundle, 'name'), { package: bundle.package, hint });
      }
    }
  },
};
