/** What registries said about the references of a catalog, for the rules that check it. */
import type { ReferenceSite } from '../reference.ts';
import type { ReferenceLock } from './lock.ts';
import type { Support } from './site.ts';

/** What a registry said about one reference. */
export type Lookup =
  | {
      readonly kind: 'found';
      /** Of the manifest list where there is one. */
      readonly digest: string;
      /** Whether it is a manifest list: an image for several platforms. */
      readonly isList?: true;
      /** The platforms that the image is for, `os/architecture`; undefined when nobody asked. */
      readonly platforms?: readonly string[];
      /** Why the signature that a policy demands is missing; undefined where it is there, or none is demanded. */
      readonly unsigned?: string;
      /** The external checks that a policy demands of the image; absent where it demands none. */
      readonly checks?: readonly ExternalCheck[];
    }
  | { readonly kind: 'absent' }
  /** The policy does not allow to ask there; nobody did. */
  | { readonly kind: 'not-allowed' }
  /** It could not be found out. */
  | {
      readonly kind: 'unknown';
      readonly why: string;
      /** What to do about it. */
      readonly hint?: string;
    };

/** What a signed statement says of an image, or that there is none that counts. */
export type ExternalCheck = { readonly name: string } & (
  | { readonly kind: 'passed'; readonly by: string }
  | { readonly kind: 'missing'; readonly why: string }
);

/** The references of a catalog with all that is known of them. */
export interface ResolvedReferences {
  readonly sites: readonly ReferenceSite[];
  /** By `lookupKey`. What was not looked up is missing. */
  readonly lookups: ReadonlyMap<string, Lookup>;
  /** What tags stood for before; undefined when nothing was locked. */
  readonly lock: ReferenceLock | undefined;
  /** On which platforms packages say that they run, by package. */
  readonly supports?: ReadonlyMap<string, Support>;
}
