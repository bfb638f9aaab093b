/** Which registries the policy allows to ask. */
import { oneRegistry } from '../../catalog/reference.ts';
import type { Trust } from '../oci/signatures/signatures.ts';
import type { Repository } from '../ports.ts';
import type { AttestationDemand, Policy } from './policy.ts';

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

// Who must have signed an image, and which external checks it must have passed.

/** @returns undefined where no signature is demanded */
export type SignatureDemands = (repository: Repository) => Trust | undefined;

/**
 * Gives the signers that the policy demands of a repository's images: those of the first pattern that
 * matches.
 */
export function signatureDemands({ registries }: Policy): SignatureDemands {
  const demands = registries.signatures.map(({ from, trust }) => ({
    matches: repositoryMatcher(from),
    trust,
  }));
  return (repository) => demands.find(({ matches }) => matches(repository))?.trust;
}

/** The external checks that an image must have passed. */
export type AttestationDemands = (repository: Repository) => readonly AttestationDemand[];

/** Gives the external checks that the policy demands of a repository's images: those of all patterns that match. */
export function attestationDemands({ registries }: Policy): AttestationDemands {
  const demands = registries.attestations.map((demand) => ({
    matches: repositoryMatcher(demand.from),
    demand,
  }));
  return (repository) => demands.filter(({ matches }) => matches(repository)).map(({ demand }) => demand);
}
