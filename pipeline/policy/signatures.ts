/** Who must have signed an image, and which external checks it must have passed. */
import type { Trust } from '../oci/signatures/signatures.ts';
import type { Repository } from '../ports.ts';
import type { AttestationDemand, Policy } from './policy.ts';
import { repositoryMatcher } from './registries.ts';

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
