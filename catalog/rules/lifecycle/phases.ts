import { daysAfter, lifecycleBlobs, lifecycleVersions } from '../../fbc/lifecycle.ts';
import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'lifecycle/phases',
  severity: 'error',
  summary: 'Reports support phases with gaps between them, and phases that end before they begin',
  check(catalog, report) {
    for (const blob of lifecycleBlobs(catalog)) {
      for (const { name, index, phases } of lifecycleVersions(blob)) {
        const about = `lifecycle metadata of package ${quoted(blob.package)}, version ${name}`;
        for (const [i, { name: phase, start, end }] of phases.entries()) {
          const place = (field: string) => locate(blob, 'versions', index, 'phases', i, field);
          const of = { package: blob.package };
          if (end <= start) {
            const message = `${about}: phase ${quoted(phase)} ends on ${end}, not after it begins (${start})`;
            report(message, place('endDate'), { ...of, hint: 'correct startDate or endDate' });
          }
          const before = phases[i - 1];
          const expected = before && daysAfter(before.end, 1);
          if (!before || start === expected) continue;
          const message = `${about}: phase ${quoted(phase)} begins on ${start}, but ${quoted(before.name)} ends on ${before.end}`;
          report(message, place('startDate'), { ...of, hint: `startDate: "${expected}"` });
        }
      }
    }
  },
};
