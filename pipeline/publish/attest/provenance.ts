/**
 * Where an index image comes from, as an in-toto statement with a SLSA provenance: the commit and everything else
 * that decided its bytes. Two builds of it give the same statement.
 *
 * @see https://slsa.dev/spec/v1.0/provenance
 */
import { COSIGN_PREDICATE } from '../../oci/signatures/verify.ts';
import { publicUrl } from '../../secrets.ts';
import type { PublishReceipt } from '../receipt.ts';

export const PROVENANCE_PREDICATE = 'https://slsa.dev/provenance/v1';
/** Says what the parameters of a provenance mean: those of `ProvenanceRequest`. */
const BUILD_TYPE = 'urn:portolan:publish:v1';

export interface ProvenanceRequest {
  readonly receipt: PublishReceipt;
  /** Repository of the commit, as a URL; undefined if unknown. */
  readonly source: string | undefined;
  /** The inputs of the image besides the catalog. */
  readonly settings: {
    readonly cache: string;
    readonly compression: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  /** The builder, a URI. */
  readonly builder: string;
}

/** The statement as bytes, to be signed or put beside the image as it is. */
export function provenanceOf({ receipt, source, settings, builder }: ProvenanceRequest): Uint8Array {
  const { catalog, commit, base, platforms } = receipt;
  return statementAbout(receipt, PROVENANCE_PREDICATE, {
    buildDefinition: {
      buildType: BUILD_TYPE,
      externalParameters: { catalog, platforms, ...settings },
      resolvedDependencies: [
        { uri: source === undefined ? 'urn:git' : `git+${publicUrl(source)}`, digest: { gitCommit: commit } },
        ...(base === undefined ? [] : [{ uri: 'urn:portolan:base-image', digest: digestSet(base) }]),
      ],
    },
    runDetails: { builder: { id: builder } },
  });
}

/** An in-toto statement about a published image. */
export function statementAbout(
  { image, digest }: PublishReceipt,
  predicateType: string,
  predicate: unknown,
): Uint8Array {
  const subject = [{ name: image, digest: digestSet(digest) }];
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate };
  return new TextEncoder().encode(JSON.stringify(statement));
}

/** A digest as in-toto writes it: `{sha256: HEX}` for `sha256:HEX`. */
function digestSet(digest: string): Readonly<Record<string, string>> {
  const [algorithm = '', hex = ''] = digest.split(':');
  return { [algorithm]: hex };
}

/** The statement that `cosign verify` looks for since version 3: that the image is signed, and nothing more. */
export function cosignStatement(digest: string): Uint8Array {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: digestSet(digest) }],
    predicateType: COSIGN_PREDICATE,
    predicate: {},
  };
  return new TextEncoder().encode(JSON.stringify(statement));
}
