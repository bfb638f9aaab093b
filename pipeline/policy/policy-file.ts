/** The policy as people write it, once its schema has passed it: every key may be left out. */
import type { Severity } from '../../catalog/finding.ts';
import type { Retirement } from '../ports.ts';
import type { PathKind } from './layout.ts';
import type { AllowableClass, OwnersSource, Released, ReleasePolicy, Ring } from './policy.ts';
import type { PresetName } from './presets/preset.ts';

/** `pipeline/policy.schema.json` describes each key, and `Policy` what it becomes. */
export interface PolicyFile {
  readonly enforce?: 'on' | 'off';
  readonly branches?: readonly string[];
  readonly layout?: Readonly<Partial<Record<PathKind, string | readonly WrittenPattern[]>>>;
  readonly bundleCatalogs?: { readonly names: readonly string[]; readonly image?: string };
  readonly owners?: {
    readonly admins?: readonly string[];
    readonly blocked?: readonly string[];
    readonly sources?: readonly OwnersSource[];
    readonly packages?: Readonly<Record<string, readonly string[]>>;
    readonly allowTeams?: boolean;
  };
  readonly reservedNames?: readonly string[];
  readonly automation?: readonly WrittenAutomation[];
  readonly approval?: {
    readonly pin?: 'content' | 'head';
    readonly ownerSelfApproval?: boolean;
    readonly pusherMustBeOwner?: boolean;
    readonly ask?: boolean;
    readonly required?: Readonly<Partial<Record<AllowableClass | 'multi-package', string>>>;
  };
  readonly commits?: { readonly signOff?: boolean; readonly verified?: boolean };
  readonly checks?: {
    readonly required?: readonly {
      readonly name: string;
      readonly app: number;
      readonly workflow?: string;
    }[];
  };
  readonly presets?: readonly PresetName[];
  readonly rules?: Readonly<Record<string, WrittenRule>>;
  readonly waivers?: readonly WrittenWaiver[];
  readonly limits?: Readonly<
    Partial<Record<'fileBytes' | 'files' | 'docs' | 'entries' | 'depth' | 'aliases' | 'contextBytes', number>>
  >;
  readonly merge?: {
    readonly mode?: 'off' | 'auto';
    readonly method?: 'squash' | 'merge' | 'rebase';
    readonly via?: 'queue-if-enabled' | 'queue' | 'direct';
  };
  readonly suggestions?: boolean;
  readonly labels?: boolean;
  readonly graph?: {
    readonly olm?: readonly ('v0' | 'v1')[];
    readonly catalogOrder?: readonly string[];
    readonly companions?: readonly string[];
    readonly otherCatalogs?: readonly string[];
    readonly published?: 'git' | { readonly ledger: string };
    readonly released?: Readonly<Record<string, Released['by']>>;
    readonly rebuilds?: 'none' | 'heads';
    readonly installSets?: readonly string[];
  };
  readonly registries?: Readonly<Partial<Record<'allow' | 'credentials' | 'internal', readonly string[]>>> & {
    readonly lock?: string;
    readonly mirrors?: readonly WrittenMirror[];
    readonly signatures?: readonly WrittenSignature[];
    readonly attestations?: readonly WrittenAttestation[];
  };
  readonly release?: { readonly bundles: string; readonly mode?: ReleasePolicy['mode'] };
  readonly promotion?: { readonly from: string; readonly to: string; readonly group?: boolean };
  readonly fleet?: {
    readonly files?: readonly string[];
    readonly approvals?: readonly {
      readonly clusters?: number;
      readonly share?: number;
      readonly required: string;
    }[];
  };
  readonly publish?: {
    readonly catalogs?: Readonly<Record<string, WrittenTarget>>;
    readonly retired?: Retirement;
    readonly role?: string;
  };
}

/** As an entry of an ImageDigestMirrorSet. */
interface WrittenMirror {
  readonly source: string;
  readonly mirrors: readonly string[];
  readonly mirrorSourcePolicy?: 'AllowContactingSource' | 'NeverContactSource';
}

/** A pattern; of a catalog, with the name that is not what `{catalog}` matches. */
export type WrittenPattern = string | { readonly path: string; readonly name: string };

interface WrittenAutomation {
  readonly id: number;
  readonly login: string;
  readonly packages: readonly string[];
  readonly may: readonly AllowableClass[];
  readonly paths?: readonly PathKind[];
  readonly maxPackages?: number;
}

export type WrittenRule =
  | Severity
  | 'off'
  | {
      readonly severity?: Severity | 'off';
      readonly enforce?: 'on' | 'off';
      readonly allowChannels?: readonly string[];
    };

interface WrittenWaiver {
  readonly rule: string;
  readonly package: string;
  readonly catalog?: string;
  readonly until: string;
  readonly reason: string;
}

/** With keys, or with identity and issuer. */
export interface WrittenSignature {
  readonly from: readonly string[];
  readonly keys?: readonly string[];
  readonly identity?: string;
  readonly issuer?: string;
  readonly trustedRoot?: unknown;
}

export interface WrittenAttestation extends WrittenSignature {
  readonly name: string;
  readonly predicateType: string;
  readonly result?: 'none' | Readonly<Record<string, string | number | boolean>>;
}

interface WrittenTarget {
  readonly image: string;
  readonly also?: readonly string[];
  readonly slim?: string;
  readonly base?: string;
  readonly cache?: 'json' | 'none';
  readonly compression?: 'gzip' | 'zstd';
  readonly labels?: Readonly<Record<string, string>>;
  readonly attest?: readonly ('sbom' | 'provenance' | 'upgrade-safety' | 'keyless' | 'kms')[];
  readonly immutableTags?: boolean;
  readonly keep?: number;
  readonly platforms?: readonly string[];
  readonly mirrorTo?: string;
  readonly rings?: readonly WrittenRing[];
}

export interface WrittenRing {
  readonly tag: string;
  readonly after?: string;
  readonly unless?: Ring['unless'];
  readonly checks?: readonly string[];
  readonly approvals?: number;
}
