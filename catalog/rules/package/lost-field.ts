import { placeOfPackage } from '../finding-location.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/lost-field',
  severity: 'warning',
  summary: "Reports changes that drop a package's icon or description",
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
        const message = `package ${quoted(name)} loses its ${field}`;
        report(message, location, { package: name, hint: `copy ${field} from the base branch` });
      }
    }
  },
};
