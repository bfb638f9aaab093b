/** The upgrade path of what a cluster has installed, under either OLM. */
import { type Installed, shortName } from '../../fbc/edge.ts';
import type { ExtensionSpec } from '../resolve/next-v1.ts';
import type { Scope } from '../resolve/snapshot.ts';
import { detailedPathV1 } from './detailed-path.ts';
import { type PathSummary, summarizePath } from './upgrade-impact.ts';
import type { Olm, World } from './world.ts';

/** What a Subscription or a ClusterExtension asks for. */
export interface Subscribed {
  readonly olm: Olm;
  readonly package: string;
  /** Under OLM v0 one or none; none for the default channel, or for all channels under OLM v1. */
  readonly channels: readonly string[];
  /** The range of versions that a ClusterExtension asks for, or empty. */
  readonly range: string;
}

export function installedPath(
  { catalog, foresight }: World,
  { olm, package: name, channels, range }: Subscribed,
  installed: Installed,
): PathSummary {
  if (olm === 'v0') {
    const channel = channels[0] ?? catalog.packages.get(name)?.defaultChannel ?? '';
    return summarizePath(foresight.v0({ package: name, channel }, installed));
  }
  if (range === '') return summarizePath(foresight.v1({ package: name, channels }, installed));
  return rangedPath(foresight.scope, { package: name, channels, range }, installed);
}

/** The path within a range: it arrives wherever the range lets it go no further, for there the cluster wants to be. */
function rangedPath(scope: Scope, spec: ExtensionSpec, installed: Installed): PathSummary {
  const { steps, last } = detailedPathV1(scope, spec, installed);
  const [first, end] = [steps[0]?.to, steps.at(-1)?.to];
  const kind = first ? 'upgrade' : last.kind === 'fails' ? 'fails' : 'stays';
  return {
    next: first ? shortName(first) : kind,
    kind,
    end: end ? shortName(end) : '',
    arrives: last.kind === 'stays',
    why: last.kind === 'circle' ? 'the upgrade path goes in a circle' : last.reason.text,
  };
}
