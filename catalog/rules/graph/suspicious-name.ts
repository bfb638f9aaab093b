import { type Bundle, type Channel, locate } from '../../fbc/model.ts';
import { nameEnd } from '../../names.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { formatVersion } from '../../version/version.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/suspicious-name',
  severity: 'error',
  summary: 'Reports ambiguous channel names, and bundle names that do not contain the version',
  foresee(world, report) {
    for (const { name, channels, bundles } of checkedPackages(world)) {
      for (const channel of channels.values()) {
        const defect = channelDefect(channel);
        if (!defect) continue;
        const message = `channel ${quoted(channel.name)} of package ${quoted(name)}: ${defect.why}`;
        const details = {
          package: name,
          channel: channel.name,
          severity: defect.severity,
          hint: 'name: stable',
        };
        report(message, locate(channel, 'name'), details);
      }
      for (const bundle of bundles.values()) {
        const other = otherVersionIn(bundle);
        if (other === undefined || !bundle.version) continue;
        const version = formatVersion(bundle.version);
        const message = `bundle ${quoted(bundle.name)} of package ${quoted(name)} has version ${version}, but its name contains ${other}`;
        const hint = `name: ${name}.v${version}`;
        report(message, locate(bundle, 'name'), {
          package: name,
          subject: bundle.name,
          severity: 'warning',
          hint,
        });
      }
    }
  },
};

function channelDefect({ name }: Channel): { why: string; severity: 'error' | 'warning' } | undefined {
  if (name.includes('/')) {
    return { why: 'OLM v0 cannot install from a channel with a slash in its name', severity: 'error' };
  }
  if ([...name].length === 1)
    return { why: 'a name of one character is probably a typo', severity: 'warning' };
  return /^[a-z0-9]/i.test(name)
    ? undefined
    : { why: 'the name does not start with a letter or digit', severity: 'warning' };
}

/** A version at the end of a bundle's name that is not its own. */
function otherVersionIn({ name, version }: Bundle): string | undefined {
  const [, written] = /[.-]v?([0-9]+\.[0-9]+\.[0-9]+)(?:[-+_.][0-9A-Za-z.+_-]*)?$/.exec(nameEnd(name)) ?? [];
  if (written === undefined || !version) return undefined;
  const numbers = `${version.major}.${version.minor}.${version.patch}`;
  return written === numbers ? undefined : written;
}
