/** The upgrade path of a ClusterExtension that asks for a range of versions: the end of the range is where it wants to be. */
import { type Installed, shortName } from '../../fbc/edge.ts';
import type { ExtensionSpec } from '../resolve/next-v1.ts';
import type { Scope } from '../resolve/snapshot.ts';
import { detailedPathV1 } from './detailed-path.ts';
import type { PathSummary } from './upgrade-impact.ts';

/** The path of an installation within its range; it arrives wherever the range lets it go no further. */
export function rangedPath(scope: Scope, spec: ExtensionSpec, installed: Installed): PathSummary {
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
