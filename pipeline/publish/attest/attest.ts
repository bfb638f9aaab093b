/** What is put beside a published image: what is in it, where it comes from, who says so. */
import { withDigest } from '../../../catalog/reference.ts';
import type { BuiltCatalog } from '../../oci/image/build.ts';
import { STATEMENT_TYPE } from '../../oci/signatures/verify.ts';
import type { Descriptor } from '../../ports.ts';
import type { StandingImage } from '../push.ts';
import type { PublishReceipt } from '../receipt.ts';
import { type Attachment, attach, PREDICATE_TYPE, SBOM_TYPE } from './artifact.ts';
import { PROVENANCE_PREDICATE, type ProvenanceRequest, provenanceOf } from './provenance.ts';
import { BUNDLE_TYPE, signedStatement } from './sign.ts';
import type { Signer } from './signer.ts';

export interface AttestOptions {
  readonly sbom: boolean;
  readonly provenance: boolean;
  /** Who signs the provenance; it is put there as it is when nobody does. */
  readonly signer?: Signer | undefined;
  /** Repository of the commit, as a URL. */
  readonly source?: string | undefined;
  /** Who runs the build; a URI. */
  readonly builder: string;
}

export interface Attested {
  /** Nothing is put there when left out. */
  readonly options: AttestOptions | undefined;
  readonly built: BuiltCatalog;
  readonly receipt: PublishReceipt;
  readonly settings: ProvenanceRequest['settings'];
}

/** What a policy asks for; nothing when that is nothing. */
export function attestBy(asked: readonly ('sbom' | 'provenance' | 'keyless')[]): AttestOptions | undefined {
  if (asked.length === 0) return undefined;
  const keyless = asked.includes('keyless');
  return {
    sbom: asked.includes('sbom'),
    provenance: keyless || asked.includes('provenance'),
    signer: keyless ? { kind: 'keyless' } : undefined,
    builder: 'urn:portolan:publish',
  };
}

/**
 * Puts documents beside the image, where there are none of their kind yet: a commit that changes nothing in the
 * image adds nothing to it.
 *
 * @param standing places; those of another image are passed over
 * @returns digests of the documents that were put there
 * @throws PipelineError `denied` when nobody vouches for the job, and whatever the registry answers
 */
export async function attestImages(
  standing: readonly StandingImage[],
  attested: Attested,
): Promise<string[]> {
  const { options, built } = attested;
  if (!options) return [];
  const makers: readonly (readonly [string, () => Promise<Attachment>])[] = [
    ...(options.sbom ? [[SBOM_TYPE, () => sbom(attested)] as const] : []),
    ...(options.provenance
      ? [[options.signer ? BUNDLE_TYPE : STATEMENT_TYPE, () => provenance(attested, options)] as const]
      : []),
  ];
  const made = new Map<string, Promise<Attachment>>();
  const digests = new Set<string>();
  for (const { image, registry, reference } of standing) {
    if (image !== built.image) continue;
    const { manifestList: manifest } = image;
    for (const [type, make] of makers) {
      const there = await registry.listReferrers(
        withDigest(reference, manifest.digest),
        manifest.digest,
        type,
      );
      if (there.some((one) => type !== BUNDLE_TYPE || says(one, PROVENANCE_PREDICATE))) continue;
      // Signed once, however many places there are.
      const attachment = made.get(type) ?? make();
      made.set(type, attachment);
      digests.add((await attach(registry, { reference, manifest }, await attachment)).digest);
    }
  }
  return [...digests];
}

function says({ annotations = {} }: Descriptor, predicateType: string): boolean {
  return annotations[PREDICATE_TYPE] === predicateType;
}

async function sbom({ built, receipt }: Attested): Promise<Attachment> {
  // Loaded when it is wanted: most publishes want none.
  const { sbomOf } = await import('./sbom.ts');
  const { image: name, digest, base } = receipt;
  return sbomOf({ name, digest, base }, built.contents);
}

async function provenance(
  { receipt, settings }: Attested,
  { source, builder, signer }: AttestOptions,
): Promise<Attachment> {
  const statement = provenanceOf({ receipt, source, settings, builder });
  return signer
    ? signedStatement(statement, PROVENANCE_PREDICATE, signer)
    : { artifactType: STATEMENT_TYPE, bytes: statement };
}
