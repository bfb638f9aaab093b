/** What is put beside a published image: what is in it, where it comes from, who says so. */
import { withDigest } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { BuiltCatalog } from '../../oci/image/build.ts';
import { COSIGN_PREDICATE, STATEMENT_TYPE } from '../../oci/signatures/verify.ts';
import type { PublishTarget } from '../../policy/policy.ts';
import type { Descriptor } from '../../ports.ts';
import type { StandingImage } from '../push.ts';
import type { PublishReceipt } from '../receipt.ts';
import { type Attachment, attachDocument, PREDICATE_TYPE, SBOM_TYPE } from './artifact.ts';
import type { Publication } from './extra-statement.ts';
import { EXTRA_STATEMENTS } from './extra-statements.ts';
import {
  cosignStatement,
  PROVENANCE_PREDICATE,
  type ProvenanceRequest,
  provenanceOf,
  statementAbout,
} from './provenance.ts';
import { BUNDLE_TYPE, SIGNED_BY, signedStatement, signerName } from './sign.ts';
import type { Signer } from './signer.ts';

export interface AttestOptions {
  readonly sbom: boolean;
  readonly provenance: boolean;
  /** The signer of the provenance; without one it is attached unsigned. */
  readonly signer?: Signer | undefined;
  /** Repository of the commit, as a URL. */
  readonly source?: string | undefined;
  /** The builder, a URI. */
  readonly builder: string;
  /** Names of further statements; they need a signer. */
  readonly statements?: readonly string[] | undefined;
}

export interface AttestRequest {
  /** Left out, nothing is attached. */
  readonly options: AttestOptions | undefined;
  readonly built: BuiltCatalog;
  readonly receipt: PublishReceipt;
  readonly settings: ProvenanceRequest['settings'];
  readonly publication: Publication;
}

/** The ways in which a publisher can sign. */
interface Signing {
  /** The publisher's own key. */
  readonly key?: Signer | undefined;
  /** Whether the publisher has no OIDC identity, which jobs have: no service vouches for it. */
  readonly isAnonymous?: boolean | undefined;
}

/** Why a publisher cannot sign as a policy asks for; undefined if it can in one of the ways, or if nothing is to be signed. */
export function whyUnsigned(
  asked: PublishTarget['attest'],
  { key, isAnonymous = false }: Signing,
): { readonly message: string; readonly hint: string } | undefined {
  const [keyless, kms] = [asked.includes('keyless'), asked.includes('kms')];
  const statement = EXTRA_STATEMENTS.find((one) => asked.some((word) => word === one.asked));
  if (!keyless && !kms && statement) {
    return {
      message: `attest: [${statement.asked}] needs a signature, but the policy names nobody who signs`,
      hint: `attest: [${statement.asked}, keyless] for jobs, or attest: [${statement.asked}, kms] for functions with a key`,
    };
  }
  // Nothing is to be signed, or one of the ways to sign is open to this publisher.
  if ((!keyless && !kms) || (keyless && !isAnonymous) || (kms && key)) return undefined;
  if (keyless && !kms) {
    return {
      message:
        'attest: [keyless] needs the OIDC identity of a job, but this publisher is a function without one',
      hint: 'use attest: [kms] and give the functions a key (SigningKey on AWS, signing.secret on Kubernetes); or attest: [keyless, kms] for jobs and functions',
    };
  }
  return {
    message: 'the policy asks for a signature with a KMS key, but this publisher has none',
    hint: 'give the functions a key (SigningKey on AWS, signing.secret on Kubernetes); in a job, use attest: [keyless]',
  };
}

/**
 * The options for what a policy asks for; undefined if it asks for nothing. If the policy allows both ways to sign, a
 * publisher with an identity signs with that.
 *
 * @throws PipelineError `usage` for {@link whyUnsigned}
 */
export function attestBy(asked: PublishTarget['attest'], signing: Signing): AttestOptions | undefined {
  if (asked.length === 0) return undefined;
  const signer = signerFor(asked, signing);
  return {
    sbom: asked.includes('sbom'),
    // What `keyless` and `kms` sign is first of all the provenance.
    provenance: signer !== undefined || asked.includes('provenance'),
    signer,
    builder: 'urn:portolan:publish',
    statements: asked,
  };
}

/** Who signs: the job's identity where the policy allows it and the publisher has one, else its key. */
function signerFor(asked: PublishTarget['attest'], signing: Signing): Signer | undefined {
  const unsigned = whyUnsigned(asked, signing);
  if (unsigned) throw new PipelineError('usage', unsigned.message, { hint: unsigned.hint });
  if (asked.includes('keyless') && !signing.isAnonymous) return { kind: 'keyless' };
  return asked.includes('kms') ? signing.key : undefined;
}

/**
 * Attaches documents to a pushed image, unless it has some of their kind, by the same signer: publishing the same image again
 * adds nothing.
 *
 * @param pushed images with their places; other images than the one that was built are skipped
 * @returns digests of the attached documents
 * @throws PipelineError `denied` if no identity provider vouches for the job, and errors of the registry
 */
export async function attestImages(
  pushed: readonly StandingImage[],
  request: AttestRequest,
): Promise<string[]> {
  const { options, built } = request;
  if (!options) return [];
  const makers = makersOf(request, options);
  const made = new Map<Maker, Promise<Attachment>>();
  const digests = new Set<string>();
  for (const { image, registry, reference } of pushed) {
    if (image !== built.image) continue;
    const { manifestList: manifest } = image;
    for (const maker of makers) {
      const { type, make } = maker;
      const subject = withDigest(reference, manifest.digest);
      const referrers = await registry.listReferrers(subject, manifest.digest, type);
      if (await isAmong(referrers, maker)) continue;
      // All places share one document, which is signed once.
      const attachment = made.get(maker) ?? make();
      made.set(maker, attachment);
      digests.add((await attachDocument(registry, { reference, manifest }, await attachment)).digest);
    }
  }
  return [...digests];
}

/** One kind of document. */
interface Maker {
  readonly type: string;
  /** The type of a signed statement's subject matter; empty for an SBOM, which is found by its own type. */
  readonly predicate: string;
  /** The earlier image that a statement compares with: compared with another one, it is another statement. */
  readonly basis?: string;
  /** Who signs; undefined for a document that is not signed. */
  readonly signer?: Signer | undefined;
  readonly make: () => Promise<Attachment>;
}

/** The makers of the documents to attach, each with the type by which a document that is attached already is found. */
function makersOf(request: AttestRequest, options: AttestOptions): Maker[] {
  const { signer } = options;
  const predicate = PROVENANCE_PREDICATE;
  const type = signer ? BUNDLE_TYPE : STATEMENT_TYPE;
  const makers: Maker[] = [];
  if (options.sbom) makers.push({ type: SBOM_TYPE, predicate: '', make: () => sbom(request) });
  if (options.provenance) makers.push({ type, predicate, signer, make: () => provenance(request, options) });
  // Provenance is an attestation: whoever wants the image signed looks for this.
  if (signer) {
    const statement = cosignStatement(request.receipt.digest);
    const make = (): Promise<Attachment> => signedStatement(statement, COSIGN_PREDICATE, signer);
    makers.push({ type: BUNDLE_TYPE, predicate: COSIGN_PREDICATE, signer, make });
    makers.push(...statementMakers(request, options, signer));
  }
  return makers;
}

/**
 * The annotation with the commits that a statement compares with. The same image may be published again after another one:
 * what follows from the previous image must then be stated anew.
 */
const BASIS = 'dev.portolan.previous-commit';

/** Makers of the extra statements that were asked for. `basis` is the image that they compare with. */
function statementMakers(
  { receipt, publication }: AttestRequest,
  { statements = [] }: AttestOptions,
  signer: Signer,
): Maker[] {
  const basis = publication.previous.join(',') || 'none';
  const extras = EXTRA_STATEMENTS.filter(({ asked }) => statements.includes(asked));
  return extras.map(({ predicateType: predicate, load }) => ({
    type: BUNDLE_TYPE,
    predicate,
    basis,
    signer,
    make: async () => {
      const predicateOf = await load();
      const statement = statementAbout(receipt, predicate, await predicateOf(publication));
      const { annotations, ...signed } = await signedStatement(statement, predicate, signer);
      return { ...signed, annotations: { ...annotations, [BASIS]: basis } };
    },
  }));
}

/**
 * Whether the document that a maker makes is attached already. All signed statements have one type: it is the one of the same
 * subject, compared with the same image, by the same signer. Another key, or cosign in other hands, may have signed the image
 * before.
 */
async function isAmong(
  referrers: readonly Descriptor[],
  { predicate, basis, signer }: Maker,
): Promise<boolean> {
  if (!signer) return referrers.length > 0;
  const alike = referrers.filter(
    ({ annotations = {} }) => annotations[PREDICATE_TYPE] === predicate && annotations[BASIS] === basis,
  );
  if (alike.length === 0) return false;
  const name = await signerName(signer);
  return alike.some(({ annotations = {} }) => annotations[SIGNED_BY] === name);
}

/** The list of the packages and images in the catalog, to be attached to its image. */
async function sbom({ built, receipt }: AttestRequest): Promise<Attachment> {
  // Loaded only here: most publishes attach none.
  const { sbomOf } = await import('./sbom.ts');
  const { image: name, digest, base } = receipt;
  return sbomOf({ name, digest, base }, built.contents);
}

/** How and from what the image was built; signed if there is a signer, else as a plain statement. */
async function provenance(
  { receipt, settings }: AttestRequest,
  { source, builder, signer }: AttestOptions,
): Promise<Attachment> {
  const statement = provenanceOf({ receipt, source, settings, builder });
  return signer
    ? signedStatement(statement, PROVENANCE_PREDICATE, signer)
    : { artifactType: STATEMENT_TYPE, bytes: statement };
}
