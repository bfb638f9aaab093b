import { installedOf, shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { versionReleaseOf } from '../../olm/resolve/release.ts';
import { suffixEdges } from '../downgrade.ts';
import { placeOfEntry } from '../finding-location.ts';
import { grouped } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';
import { higherVersions, whyNotHigher } from '../version-order.ts';

export const rule: Rule = {
  id: 'graph/semver-order-trap',
  severity: 'error',
  summary:
    'Reports successors with a lower version than the bundle that they replace: for OLM v1, 1.0.1-1 is lower than 1.0.1',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const traps = suffixEdges(ofPackage);
      for (const [trap] of grouped(traps, ({ from, to }) => JSON.stringify([from.name, to.name]))) {
        if (!trap) continue;
        const { channel, entry, field, from, to } = trap;
        const [versionRelease, than] = [versionReleaseOf(to), versionReleaseOf(from)];
        if (!versionRelease || !than) continue;
        if (!isHeldUp(world, ofPackage, from)) continue;
        const why = whyNotHigher(versionRelease, than);
        const message = `package ${quoted(ofPackage.name)}: ${versionText(to)} ${field === 'replaces' ? 'replaces' : 'skips'} ${versionText(from)} but is not a higher version, because ${why}: OLM v1 never offers it`;
        report(message, placeOfEntry(channel, entry.index, field), {
          package: ofPackage.name,
          channel: channel.name,
          subject: `${from.name} ${to.name}`,
          installed: [shortName(from)],
          hint: hintFor(ofPackage, to, from),
        });
      }
    }
  },
};

/** Whether only the order of versions keeps OLM v1 from an upgrade: nothing else that it could take is higher. */
function isHeldUp(world: World, ofPackage: Package, from: Bundle): boolean {
  const { next } = world.foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(from));
  return next.kind === 'stays' && next.reason.code === 'successor-lower';
}

function hintFor(ofPackage: Package, to: Bundle, from: Bundle): string {
  const versions = higherVersions(ofPackage, to, from);
  return versions.length > 0
    ? `publish it as ${versions.join(' or ')}`
    : `publish it with a version above ${versionText(from)} that no other bundle has`;
}
