/** The `platform` part of an ImageSetConfiguration, as far as Portolan follows it: one release by reference. */
import type { Location } from '../../finding.ts';
import type { Path } from '../../go/path.ts';
import { any, bool, isObject, type Shape, struct, text } from '../../go/shape.ts';
import { tryParseReference } from '../../reference.ts';
import type { SelectionReader } from '../helm/chart-selection.ts';
import { withPlatforms } from '../platforms.ts';

export interface ReleaseSelection {
  /** The release payload, by tag or digest. */
  readonly reference: string;
  /** Platforms of its images; absent: all. */
  readonly platforms?: readonly string[];
  readonly location: Location;
}

/** Fields that Portolan does not follow. */
export const UNSUPPORTED: readonly string[] = ['graph', 'channels', 'architectures', 'kubeVirtContainer'];

/** The shape of the part, as oc-mirror declares it. */
export function platformShape(platformFilter: Shape): Shape {
  return struct('Platform', {
    graph: bool,
    channels: any,
    architectures: any,
    platforms: platformFilter,
    release: text,
    kubeVirtContainer: bool,
  });
}

/** Reads the release of the part `platform`, whose shape fits; every defect is reported. */
export function readRelease(
  platform: unknown,
  path: Path,
  reader: SelectionReader,
): ReleaseSelection | undefined {
  if (!isObject(platform)) return undefined;
  const written = platform['release'];
  if (typeof written !== 'string' || written === '') return undefined;
  const reference = written.replace(/^docker:\/\//, '');
  const at = [...path, 'release'];
  const parsed = tryParseReference(reference);
  if (!parsed || !/[:@][^/]*$/.test(reference))
    reader.report(`the release ${JSON.stringify(written)} must be an image with a tag or a digest`, at);
  return {
    reference,
    ...withPlatforms(reader.platforms(platform, path).platforms),
    location: reader.locate(at),
  };
}
