/**
 * In what registries differ from the specification, by host: one row a quirk, and nothing
 * about single registries anywhere else. What any registry may do without being named here
 * (no digest in a HEAD, no referrers API, mounts refused) the client copes with everywhere.
 */

export interface Quirks {
  /** Where the API is, when not at the host that references name. */
  readonly apiHost?: string;
  /** Further names under which people's files keep the credentials. */
  readonly credentialKeys?: readonly string[];
  /** Blobs go whole, in one request: chunks are refused, small ones only, or not counted rightly. */
  readonly monolithic?: boolean;
  /** Tags in one page at most; more is refused instead of cut. */
  readonly largestPage?: number;
}

interface Quirk extends Quirks {
  readonly host: RegExp;
  /** What was seen, and where it is written. */
  readonly why: string;
}

/**
 * The end of the names of ECR's registries, behind the account, with the region; with IPv6 as well the name is one
 * under `on.`, with a dash.
 *
 * @see https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
 */
export const ECR_HOST: RegExp =
  /\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.(?:com(?:\.cn)?|eu)|on\.(?:aws|amazonwebservices\.com\.cn))$/;

const QUIRKS: readonly Quirk[] = [
  {
    host: /^docker\.io$/,
    why: 'has no API itself; docker login files its credentials under the address of API version 1',
    apiHost: 'registry-1.docker.io',
    credentialKeys: ['https://index.docker.io/v1/', 'index.docker.io', 'registry-1.docker.io'],
  },
  {
    host: /(?:^|\.)gcr\.io$|-docker\.pkg\.dev$/,
    why: 'no chunked uploads: https://cloud.google.com/artifact-registry/docs/reference/docker-api',
    monolithic: true,
  },
  {
    host: /^ghcr\.io$/,
    why: 'chunks of more than 4 MiB answer 416: https://github.com/oras-project/rust-oci-client/issues/35',
    monolithic: true,
  },
  {
    host: new RegExp(`${ECR_HOST.source}|^public\\.ecr\\.aws$`),
    why: 'Range stays at the first chunk: https://github.com/aws/containers-roadmap/issues/2831',
    monolithic: true,
  },
  {
    host: /^quay\.io$/,
    why: 'has refused pages of more than 100 tags: https://github.com/akuity/kargo/pull/2186',
    largestPage: 100,
  },
];

/** All quirks of a registry in one; where rows disagree, the first one counts. */
export function quirksOf(registry: string): Quirks {
  const name = registry.replace(/:\d+$/, '').toLowerCase();
  // Reversed below: in `assign` the last one counts.
  const found = QUIRKS.filter(({ host }) => host.test(name)).map(({ host: _, why: __, ...quirks }) => quirks);
  return Object.assign({}, ...found.reverse());
}
