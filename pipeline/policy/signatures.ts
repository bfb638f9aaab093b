/** Who must have signed an image. */
import type { Trust } from '../oci/signatures/trust.ts';
import type { Repository } from '../ports.ts';
import type { Policy } from './policy.ts';
import { repositoryMatcher } from './registries.ts';

/** @returns undefined where no signature is demanded */
export type SignatureDemands = (repository: Repository) => Trust | undefined;

export function signatureDemands({ registries }: Policy): SignatureDemands {
  const demands = registries.signatures.map(({ from, trust }) => ({
    matches: repositoryMatcher(from),
    trust,
  }));
  return (repository) => demands.find(({ matches }) => matches(repository))?.trust;
}
