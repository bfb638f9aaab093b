import type { KeyObject } from 'node:crypto';

export type Signer =
  /** A private key, PEM. */
  | { readonly kind: 'key'; readonly key: string }
  /** A private key that stays where it is, such as in KMS: ECDSA over SHA-256. */
  | {
      readonly kind: 'remote';
      readonly publicKey: () => Promise<KeyObject>;
      /** @returns the signature in DER */
      readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
    }
  /** The job's own identity; the services of Sigstore's public instance unless others are named. */
  | { readonly kind: 'keyless'; readonly token?: string; readonly fulcio?: string; readonly rekor?: string };
