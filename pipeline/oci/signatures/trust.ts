/** Whose signatures count. */
export type Trust =
  /** Public keys, PEM; any of them. */
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | {
      readonly kind: 'identity';
      /** Of the certificate, such as `https://github.com/acme/catalog/.github/workflows/publish.yaml@refs/heads/main`; `*` stands for anything. */
      readonly identity: string;
      /** Who vouches for it, such as `https://token.actions.githubusercontent.com`. */
      readonly issuer: string;
      /** A trusted root as JSON; that of Sigstore's public instance when left out. */
      readonly root?: unknown;
    };
