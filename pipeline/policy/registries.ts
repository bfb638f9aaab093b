/** Which registries the policy allows to ask. */
import { oneRegistry } from '../../catalog/reference.ts';
import type { Repository } from '../ports.ts';

/** Whether one of some patterns stands for a repository. */
export type RepositoryMatcher = (repository: Repository) => boolean;

/** What a pattern of registries looks like; the schema holds the same. */
const PATTERN = /^(\*|(?:\*\.)?[^/*]+)(?:\/(.+))?$/;

/**
 * A matcher for patterns: `quay.io` (a registry), `quay.io/my-org` (what lies below a path of
 * it), `*.example.com` (every registry of a domain), `*` (every registry). Nothing matches no
 * patterns, and every spelling of a registry matches what one of them does.
 */
export function repositoryMatcher(patterns: readonly string[]): RepositoryMatcher {
  const matchers = patterns.map(matcherOf);
  return (repository) => matchers.some((matches) => matches(repository));
}

/** Matches repositories of a registry, or those of a path there and below it. */
function matcherOf(pattern: string): RepositoryMatcher {
  const [, host = '', path] = PATTERN.exec(pattern) ?? [];
  // A registry may have several spellings, Docker Hub even several hosts; of a wildcard, only the case may differ.
  const registryMatches = hostMatcher(host.startsWith('*') ? host.toLowerCase() : oneRegistry(host));
  return ({ registry, repository }) =>
    registryMatches(oneRegistry(registry)) &&
    (path === undefined || repository === path || repository.startsWith(`${path}/`));
}

/** A wildcard stands for at least one label: `*.example.com` is not `example.com`. */
function hostMatcher(host: string): (registry: string) => boolean {
  if (host === '*') return () => true;
  if (host.startsWith('*.'))
    return (registry) => registry.endsWith(host.slice(1)) && registry !== host.slice(1);
  return (registry) => registry === host;
}
