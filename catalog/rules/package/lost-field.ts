import { placeOfPackage } from '../place.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/lost-field',
  severity: 'warning',
  summary: 'A package keeps its icon and its description, which consoles show',
  compare({ before, after, packages }, report) {
    for (const name of packages) {
      const [was, is] = [before, after].map(({ catalog }) => catalog.packages.get(name)?.blob);
      const location = placeOfPackage(after, name);
      if (!was || !is || !location) continue;
      const lost = [
        ...(was.icon && !is.icon ? ['icon'] : []),
        ...(was.description !== '' && is.description === '' ? ['description'] : []),
      ];
      for (const field of lost) {
        const message = `package ${quoted(name)} had ${field === 'icon' ? 'an' : 'a'} ${field}, and has none any more`;
        report(message, location, { package: name, hint: `take ${field} over from the base branch` });
      }
    }
  },
};
