import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/default-channel',
  severity: 'error',
  summary: 'Reports packages that do not name one of their channels as the default',
  opm: ['default channel must be set', 'invalid channel "c": channel must contain at least one bundle'],
  check(catalog, report) {
    for (const { name, blob, channels } of catalog.packages.values()) {
      if (!blob || name === '' || channels.has(blob.defaultChannel)) continue;
      const known = [...channels.keys()];
      const hint = known.length > 0 ? `defaultChannel: ${known[0]}` : 'add a channel first';
      const message =
        blob.defaultChannel === ''
          ? `package ${quoted(name)} has no default channel`
          : `package ${quoted(name)}: the default channel ${quoted(blob.defaultChannel)} does not exist, found ${known.map(quoted).join(', ') || 'none'}`;
      const [only, ...others] = known;
      const sure = blob.defaultChannel !== '' && only !== undefined && others.length === 0;
      const location = locate(blob, 'defaultChannel');
      const found = blob.defaultChannel;
      const correction = sure
        ? { correction: { kind: 'replace' as const, location, found, wanted: only } }
        : {};
      report(message, location, { package: name, hint, ...correction });
    }
  },
};
