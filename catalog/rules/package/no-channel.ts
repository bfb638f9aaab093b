import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/no-channel',
  severity: 'error',
  summary: 'Reports packages without a channel',
  opm: ['package must contain at least one channel'],
  check(catalog, report) {
    for (const { name, blob, channels } of catalog.packages.values()) {
      if (!blob || name === '' || channels.size > 0) continue;
      const hint = `add an olm.channel blob with package: ${name}`;
      report(`package ${quoted(name)} has no channel`, locate(blob), { package: name, hint });
    }
  },
};
