import { locate } from '../../fbc/model.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'channel/duplicate',
  severity: 'error',
  summary: 'Reports channels that are defined more than once in their package',
  opm: ['package "p" has duplicate channel "c"'],
  check(catalog, report) {
    for (const channel of catalog.blobs.channels) {
      const first = catalog.packages.get(channel.package)?.channels.get(channel.name);
      if (!first || first === channel) continue;
      const { file, line } = locate(first);
      const message = `duplicate channel ${quoted(channel.name)} in package ${quoted(channel.package)}, first defined at ${file}:${line}`;
      const details = {
        package: channel.package,
        channel: channel.name,
        hint: 'merge all entries into one olm.channel blob',
      };
      report(message, locate(channel, 'name'), details);
    }
  },
};
