/** What a bundle says of its place in a package. */
import { csvIcon } from '../bundle/csv-icon.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Bundle } from '../fbc/model.ts';
import { isObject } from '../go/shape.ts';
import { EditError } from './package.ts';
import type { PlacedBundle } from './package-graph.ts';

/**
 * @param blob the bundle as it is rendered
 * @throws EditError for a bundle without a version
 */
export function placedBundle(bundle: RegistryBundle, blob: Bundle): PlacedBundle {
  const { version } = blob;
  if (!version) throw new EditError(`the bundle ${JSON.stringify(blob.name)} has no version`);
  const spec = isObject(bundle.csv.value['spec']) ? bundle.csv.value['spec'] : {};
  const metadata = isObject(bundle.csv.value['metadata']) ? bundle.csv.value['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const icon = csvIcon(bundle.csv.value);
  return {
    blob,
    version,
    channels: bundle.channels.map((channel) => channel.trim()),
    defaultChannel: bundle.defaultChannel,
    replaces: textOf(spec['replaces']),
    skips: Array.isArray(spec['skips']) ? spec['skips'].map(textOf) : [],
    skipRange: textOf(annotations['olm.skipRange']),
    ...(icon ? { icon } : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
