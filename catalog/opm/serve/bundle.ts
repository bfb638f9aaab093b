/** A bundle as opm's registry server answers it (`api.Bundle`). */
import { bundleJson, bundleParts } from '../../fbc/cache/bundle.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { PROPERTY_SHAPES } from '../../fbc/property.ts';
import { fitStruct } from '../../go/shape.ts';
import { parseJson } from '../../json.ts';

/** A kind of objects, as Kubernetes names them. */
export interface ApiKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A value of a type, as JSON in a string. */
interface ApiTyped {
  readonly type: string;
  readonly value: string;
}

/** The message of the API; what is empty is left out. */
export interface ApiBundle {
  readonly csvName?: string;
  readonly packageName?: string;
  readonly channelName?: string;
  readonly csvJson?: string;
  /** Manifests in JSON. */
  readonly object?: readonly string[];
  readonly bundlePath?: string;
  readonly providedApis?: readonly Partial<ApiKind>[];
  readonly requiredApis?: readonly Partial<ApiKind>[];
  readonly version?: string;
  readonly skipRange?: string;
  readonly dependencies?: readonly ApiTyped[];
  readonly properties?: readonly ApiTyped[];
  readonly replaces?: string;
  readonly skips?: readonly string[];
  readonly deprecation?: { readonly message?: string };
}

interface ApiBundleOptions {
  /** Lists of bundles have manifests only where there is no image to get them from. */
  readonly manifests: 'all' | 'without image';
}

/** Makes the message for a bundle's place in a channel. */
export function apiBundle(
  place: { readonly pkg: Package; readonly channel: Channel; readonly entry: Entry },
  { manifests }: ApiBundleOptions,
): ApiBundle {
  const { pkg, channel, entry } = place;
  const bundle = pkg.bundles.get(entry.name);
  if (!bundle) return { csvName: entry.name, packageName: pkg.name, channelName: channel.name };
  const wanted = manifests === 'without image' && bundle.image !== '' ? withoutManifests(bundle) : bundle;
  const deprecation = pkg.deprecatedBundles.get(entry.name);
  const json = bundleJson(channel, entry, { ...bundleParts(pkg, wanted), deprecation });
  return parseJson(json) as ApiBundle;
}

/** Turning manifests into JSON is nearly all the work of a message. */
function withoutManifests(bundle: Bundle): Bundle {
  const properties = bundle.properties.filter(
    ({ type }) => type !== 'olm.bundle.object' && type !== 'olm.csv.metadata',
  );
  return { ...bundle, properties };
}

const KIND_SHAPE = PROPERTY_SHAPES.get('olm.gvk');

/** Whether a bundle declares that it provides a kind. */
export function providesApi(bundle: Bundle | undefined, wanted: ApiKind): boolean {
  return (bundle?.properties ?? []).some(({ type, value }) => {
    if (type !== 'olm.gvk' || !KIND_SHAPE) return false;
    const { value: kind } = fitStruct(value, KIND_SHAPE);
    return (
      (kind['group'] ?? '') === wanted.group &&
      (kind['version'] ?? '') === wanted.version &&
      (kind['kind'] ?? '') === wanted.kind
    );
  });
}
