/** The upgrade path of what a cluster has installed, under either OLM. */
import { type Installed, shortName } from '../../fbc/edge.ts';
import type { Place } from '../resolve/next-v0.ts';
import type { ExtensionSpec } from '../resolve/next-v1.ts';
import type { Scope } from '../resolve/snapshot.ts';
import { detailedPathV1 } from './detailed-path.ts';
import { namespacePath } from './namespace-path.ts';
import { type PathSummary, summarizePath } from './upgrade-impact.ts';
import type { Olm, World } from './world.ts';

/** What a Subscription or a ClusterExtension asks for. */
interface Subscribed {
  readonly olm: Olm;
  readonly package: string;
  /** Under OLM v0 one or none; none for the default channel, or for all channels under OLM v1. */
  readonly channels: readonly string[];
  /** The range of versions that a ClusterExtension asks for, or empty. */
  readonly range: string;
}

/** @param beside what else is installed in the namespace under OLM v0 */
export function installedPath(
  world: World,
  { olm, package: name, channels, range }: Subscribed,
  installed: Installed,
  beside: readonly Beside[] = [],
): PathSummary {
  const { foresight } = world;
  if (olm === 'v0') {
    const place = placeOf(world, { package: name, channels });
    const alone = summarizePath(foresight.v0(place, installed));
    return beside.length === 0 ? alone : pathBeside(world, { place, installed, alone }, beside);
  }
  if (range === '') return summarizePath(foresight.v1({ package: name, channels }, installed));
  return rangedPath(foresight.scope, { package: name, channels, range }, installed);
}

/** Another operator of the same namespace. */
export interface Beside extends Pick<Subscribed, 'package' | 'channels'> {
  readonly installed: Installed;
}

function placeOf(
  { catalog }: World,
  { package: name, channels }: Pick<Subscribed, 'package' | 'channels'>,
): Place {
  return { package: name, channel: channels[0] ?? catalog.packages.get(name)?.defaultChannel ?? '' };
}

/** The path that it has alone, unless the others keep it from an upgrade. */
function pathBeside(
  world: World,
  { place, installed, alone }: { place: Place; installed: Installed; alone: PathSummary },
  beside: readonly Beside[],
): PathSummary {
  const { scope, source } = world.foresight;
  const others = beside.map((one) => ({ source, place: placeOf(world, one), installed: one.installed }));
  const { steps, end, reason } = namespacePath(scope, [{ source, place, installed }, ...others]);
  if (alone.kind !== 'upgrade' || shortName(end) === alone.end) return alone;
  const [first] = steps;
  const kind = first ? 'upgrade' : reason ? 'fails' : 'stays';
  const names = beside.map((one) => `${one.package} ${shortName(one.installed)}`).join(', ');
  return {
    next: first ? shortName(first) : kind,
    kind,
    end: first ? shortName(end) : '',
    arrives: false,
    why: reason?.text ?? `${names} in the same namespace prevents the next upgrade`,
  };
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
