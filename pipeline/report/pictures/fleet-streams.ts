/** Where a fleet goes, as streams for a diagram. It imports nothing that needs Node. */
import type { FleetReport, Flow, PackageFleet } from '../../../catalog/olm/fleet/count.ts';
import type { OutcomeName } from '../../../catalog/olm/fleet/outcome.ts';
import type { Stream } from './sankey.ts';

const TONES: Readonly<Record<OutcomeName, Stream['tone']>> = {
  strands: 'bad',
  'not-known': 'dim',
  moves: 'good',
  offered: 'good',
  stops: 'dim',
  recovers: 'good',
  stuck: 'bad',
  'stuck-next': 'bad',
  upgrades: 'good',
  unchanged: 'good',
  head: 'good',
  'not-reached': 'dim',
};

const NAMES: Readonly<Record<OutcomeName, string>> = {
  strands: 'stranded',
  'not-known': 'cannot be simulated',
  moves: 'upgrade',
  offered: 'wait for approval',
  stops: 'no longer upgrade',
  recovers: 'repaired',
  stuck: 'stuck',
  'stuck-next': 'stuck on next platform',
  upgrades: 'upgrade',
  unchanged: 'not affected',
  head: 'at a channel head',
  'not-reached': 'other catalogs',
};

/** All clusters, by version of the platform. */
export function platformStreams({ outcomes }: Pick<FleetReport, 'outcomes'>): Stream[] {
  return outcomes.flatMap(({ outcome, platforms }) =>
    platforms.map(({ platform, clusters }) => ({
      from: platform === '' ? 'unknown platform' : platform,
      to: NAMES[outcome],
      clusters,
      tone: TONES[outcome],
    })),
  );
}

/** The clusters that have a package, from the installed version to the end of its upgrade path. */
export function packageStreams({ flows }: Pick<PackageFleet, 'flows'>): Stream[] {
  return flows.map((flow) => ({
    from: installedText(flow),
    to: endText(flow),
    clusters: flow.clusters,
    tone: TONES[flow.outcome],
  }));
}

/** What a flow has installed. */
export function installedText({ installed, notKnown }: Flow): string {
  if (notKnown) return `unknown ${notKnown}`;
  return installed === '' ? 'another version' : installed;
}

/** Where a flow ends, and what is wrong there. */
function endText({ outcome, end }: Flow): string {
  if (outcome === 'not-known' || outcome === 'not-reached' || end === '') return NAMES[outcome];
  return TONES[outcome] === 'bad' ? `${end}: ${NAMES[outcome]}` : end;
}
