/** A set of operators that a team publishes to be installed together under OLM v1: ClusterExtensions in one file. */
import type { ManifestFile } from '../bundle/manifest.ts';
import type { Location } from '../finding.ts';
import { isObject, isTexts } from '../go/shape.ts';

export interface PublishedSet {
  readonly file: string;
  readonly members: readonly PublishedMember[];
}

/** What a ClusterExtension asks for. */
export interface PublishedMember {
  readonly package: string;
  /** A version or a range of them, or empty for any. */
  readonly version: string;
  /** Empty for all channels. */
  readonly channels: readonly string[];
  readonly location: Location;
}

/** The set in a file; other objects in it do not count. Or why it cannot be read. */
export function publishedSet({ path, documents }: ManifestFile): PublishedSet | { readonly why: string } {
  const members: PublishedMember[] = [];
  for (const document of documents) {
    if (document.kind === 'unread') return { why: document.message };
    const { value } = document;
    if (!isObject(value) || value['kind'] !== 'ClusterExtension') continue;
    const wanted = within(within(within(value, 'spec'), 'source'), 'catalog');
    const { packageName } = wanted;
    // Kubernetes drops a null from a field that may not be null.
    const [version, channels] = [wanted['version'] ?? '', wanted['channels'] ?? []];
    if (typeof packageName !== 'string' || typeof version !== 'string' || !isTexts(channels))
      return { why: 'a ClusterExtension has no spec.source.catalog with packageName, version and channels' };
    members.push({ package: packageName, version, channels, location: document.document.locate([]) });
  }
  return members.length === 0 ? { why: 'it has no ClusterExtension' } : { file: path, members };
}

function within(value: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const found = value[key];
  return isObject(found) ? found : {};
}
