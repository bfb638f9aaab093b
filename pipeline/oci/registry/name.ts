/**
 * Names of hosts, repositories and tags: what may stand in a path of the API, and in a layout.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
 */

// A name or an IPv6 address in brackets, with a port of up to five digits or without.
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
// The patterns of repositories and tags are those of the specification.
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|_|__|-+|\/)[a-z0-9]+)*$/;
/** Characters of a repository's name at most, as in distribution's package `reference`. */
const REPOSITORY_LENGTH = 255;
const TAG = /^\w[\w.-]{0,127}$/;

/** A tag in a layout; the empty repository is the layout's own. */
export interface LayoutTag {
  readonly repository: string;
  readonly tag: string;
}

/** Whether a text is a host, with or without a port. */
export function isHost(text: string): boolean {
  return HOST.test(text);
}

export function isRepository(text: string): boolean {
  return text.length <= REPOSITORY_LENGTH && REPOSITORY.test(text);
}

export function isTag(text: string): boolean {
  return TAG.test(text);
}

/** Reads a name of a layout, `tag` or `repository:tag`; undefined when it is neither. */
export function parseLayoutTag(text: string): LayoutTag | undefined {
  const colon = text.lastIndexOf(':');
  const repository = text.slice(0, Math.max(colon, 0));
  const tag = text.slice(colon + 1);
  if (!isTag(tag) || (colon >= 0 && !isRepository(repository))) return undefined;
  return { repository, tag };
}

/** The name as `parseLayoutTag` reads it. */
export function formatLayoutTag({ repository, tag }: LayoutTag): string {
  return repository === '' ? tag : `${repository}:${tag}`;
}
