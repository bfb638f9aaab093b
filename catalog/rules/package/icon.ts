import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/icon',
  severity: 'info',
  summary: 'Reports new packages without an icon: consoles show a placeholder',
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(name)?.blob);
      const location = placeOfPackage(after, name);
      if (!is || is.icon || was || !location) continue;
      const hint = 'icon: {base64data: …, mediatype: image/svg+xml}';
      report(`package ${quoted(name)} has no icon`, location, { package: name, hint });
    }
  },
};
