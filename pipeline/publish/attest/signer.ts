export type Signer =
  /** A private key, PEM. */
  | { readonly kind: 'key'; readonly key: string }
  /** The job's own identity; the services of Sigstore's public instance unless others are named. */
  | { readonly kind: 'keyless'; readonly token?: string; readonly fulcio?: string; readonly rekor?: string };
