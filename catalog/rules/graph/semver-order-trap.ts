import { installedOf, shortName, versionText } from '../../fbc/edge.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { formatVersion, type Version } from '../../version/version.ts';
import { loweringEdges } from '../downgrade.ts';
import { placeOfEntry } from '../finding-location.ts';
import { grouped } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/semver-order-trap',
  severity: 'error',
  summary:
    'A successor has a higher version than the bundle it replaces: for OLM v1, 1.0.1-1 is lower than 1.0.1',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const traps = loweringEdges(ofPackage).filter(({ bySuffix }) => bySuffix);
      for (const [trap] of grouped(traps, ({ from, to }) => JSON.stringify([from.name, to.name]))) {
        const version = trap?.to.version;
        if (!trap || !version) continue;
        const { channel, entry, field, from, to } = trap;
        const { next } = world.foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(from));
        // With another way on, nobody is held up.
        if (next.kind === 'upgrade') continue;
        const message = `package ${quoted(ofPackage.name)}: ${versionText(to)} replaces ${versionText(from)} but is not a higher version, because a suffix after - makes a version lower: OLM v1 never offers it`;
        report(message, placeOfEntry(channel, entry.index, field), {
          package: ofPackage.name,
          channel: channel.name,
          subject: `${from.name} ${to.name}`,
          installed: [shortName(from)],
          hint: `publish it as ${nextPatch(version)}, or use build metadata instead of the suffix: ${asBuild(version)}`,
        });
      }
    }
  },
};

function nextPatch(version: Version): string {
  return formatVersion({ ...version, patch: BigInt(version.patch) + 1n, prerelease: [], build: [] });
}

function asBuild(version: Version): string {
  const suffix = [...version.prerelease.map(String), ...version.build];
  return formatVersion({ ...version, prerelease: [], build: suffix.length > 0 ? suffix : ['1'] });
}
