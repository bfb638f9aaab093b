/**
 * Names of our own: below the destination the host and the path of the source, so that
 * people recognise an image and no two images meet.
 */
import type { Reference } from '../reference.ts';
import { digestTag, type ImageRequest, type Naming, type Placement } from './placement.ts';

interface NestedNaming {
  /** Host with its port. */
  readonly registry: string;
  /** Path below the host; may be empty. */
  readonly path: string;
  /** Most components of a destination's path, for registries that allow only so many; 0 for no limit. */
  readonly maxComponents: number;
}

/** Names images below `registry/path`. */
export function nestedNaming(naming: NestedNaming): Naming {
  return { place: (request) => place(request, naming) };
}

function place({ role, written, wanted, digest }: ImageRequest, naming: NestedNaming): Placement {
  const name = `${wanted.registry}/${wanted.repository}`;
  const pin = wanted.kind === 'digest' ? wanted.digest : digest;
  const components = [naming.path, hostComponent(wanted.registry), wanted.repository].join('/').split('/');
  return {
    role,
    written,
    wanted,
    source: pin === undefined ? `${name}:${tagOf(wanted)}` : `${name}@${pin}`,
    destination: {
      transport: 'registry',
      registry: naming.registry,
      repository: flatten(components.filter(Boolean), naming.maxComponents),
      tag: tagOf(wanted),
    },
  };
}

/** A host as a component of a path. No host has an underscore, so hosts stay distinct. */
function hostComponent(host: string): string {
  return host.toLowerCase().replace(':', '_');
}

function tagOf(wanted: Reference): string {
  return wanted.kind === 'tag' ? wanted.tag : (wanted.tag ?? digestTag(wanted.digest));
}

/** A path of at most `most` components: what is beyond becomes one, joined by hyphens. */
export function flatten(components: readonly string[], most: number): string {
  if (most < 1 || components.length <= most) return components.join('/');
  return [...components.slice(0, most - 1), components.slice(most - 1).join('-')].join('/');
}
