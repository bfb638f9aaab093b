/** The policy as the pipeline uses it: every key there, references read, nothing left to look up. */
import type { Location, Severity } from '../../catalog/finding.ts';
import type { MirrorRule } from '../../catalog/mirror/node/node.ts';
import type { Trust } from '../oci/signatures/signatures.ts';
import type { Retirement } from '../ports.ts';
import type { Identity } from './identity.ts';
import type { Layout, PathKind } from './layout.ts';
import type { PresetName } from './presets/preset.ts';

/**
 * What a change is, for who may make it. Outside of packages, catalogs and advisories: `gate` decides about permissions,
 * `repository` is what Portolan or other programs trust or run, `root` all else at the top, `unknown` all else below it.
 */
export const CHANGE_CLASSES = [
  'add-entry',
  'edit-graph',
  'prune',
  'mutate-published',
  'promote',
  'new-package',
  'delete-package',
  'new-catalog',
  'delete-catalog',
  'ownership',
  'package-config',
  'advisory',
  'repository',
  'root',
  'unknown',
  'gate',
  'unsafe',
] as const;
type ChangeClass = (typeof CHANGE_CLASSES)[number];

/** A class that somebody may allow: nobody allows what is unsafe. */
export type AllowableClass = Exclude<ChangeClass, 'unsafe'>;

export interface Policy {
  /** `off`: everything is reported, nothing is blocked. */
  readonly enforce: 'on' | 'off';
  /** Patterns of branches that are gated. */
  readonly branches: readonly string[];
  readonly layout: Layout;
  readonly owners: OwnersPolicy;
  /** Patterns of names that no new package may take. */
  readonly reservedNames: readonly string[];
  readonly automation: readonly Automation[];
  readonly approval: ApprovalPolicy;
  readonly commits: CommitsPolicy;
  readonly requiredChecks: readonly RequiredCheck[];
  /** Other gates whose checks hold as well. */
  readonly presets: readonly PresetName[];
  /** By rule id or group such as `graph/*`. */
  readonly rules: ReadonlyMap<string, RuleSetting>;
  readonly waivers: readonly Waiver[];
  readonly limits: Limits;
  readonly merge: MergePolicy;
  /** Whether corrections that fit on their line are offered in a review. */
  readonly suggestions: boolean;
  /** Whether a label on the pull request says the result. */
  readonly labels: boolean;
  readonly graph: GraphPolicy;
  readonly registries: RegistriesPolicy;
  /** What becomes of merged bundle directories; undefined where they are nobody's business here. */
  readonly release: ReleasePolicy | undefined;
  /** Packages that go to the catalog of another version of the platform, on a schedule; undefined for none. */
  readonly promotion: PromotionPolicy | undefined;
  readonly publish: PublishPolicy;
  readonly fleet: FleetPolicy;
}

/** What many clusters have installed, and what that means for approvals. */
interface FleetPolicy {
  /** Paths on the base branch, or artifacts by digest (`oci://…@sha256:…`). */
  readonly files: readonly string[];
  readonly approvals: readonly FleetApproval[];
}

/** Who must stand behind a merge that reaches many clusters: a number of them, or a share of the fleet in percent. */
export interface FleetApproval {
  readonly clusters: number | undefined;
  readonly share: number | undefined;
  readonly required: Requirement;
}

interface PromotionPolicy {
  /** Names of catalogs. */
  readonly from: string;
  readonly to: string;
  /** Whether all packages come in one pull request. */
  readonly group: boolean;
}

export interface OwnersPolicy {
  readonly admins: readonly Identity[];
  /** Authors whose pull requests always fail. */
  readonly blocked: readonly Identity[];
  /** In order; the first that names an owner of a package counts. */
  readonly sources: readonly OwnersSource[];
  /** Owners by package, where no source names any. */
  readonly packages: ReadonlyMap<string, readonly Identity[]>;
  readonly allowTeams: boolean;
}

/** A file that names owners: at a path with `{package}`, in the folders above a changed file (`{dir}/NAME`), or `CODEOWNERS`. */
export interface OwnersSource {
  readonly path: string;
  readonly format: 'ci.yaml' | 'prow' | 'codeowners' | 'packages';
}

/** The account of a program, and what it may change by itself. */
export interface Automation {
  readonly id: number;
  readonly login: string;
  /** Patterns of packages. */
  readonly packages: readonly string[];
  /** Classes of change. */
  readonly may: readonly AllowableClass[];
  /** Undefined for every kind. */
  readonly paths: readonly PathKind[] | undefined;
  /** Most packages of one pull request. */
  readonly maxPackages: number;
}

export interface ApprovalPolicy {
  /** What an approval stays valid for: the approved change, whatever else is pushed, or the approved commit alone. */
  readonly pin: 'content' | 'head';
  /** Whether owners and admins count for their own pull requests. */
  readonly ownerSelfApproval: boolean;
  /** Whether that also requires that an owner or admin pushed the head. */
  readonly pusherMustBeOwner: boolean;
  /** Whether those whose approval is missing are asked for a review. */
  readonly ask: boolean;
  readonly required: ReadonlyMap<AllowableClass, Requirement>;
  /** For changes of several packages: the owners of each of them, or an admin. */
  readonly multiPackage: 'each' | 'admins';
}

/** How many different people must stand behind a change. An admin counts as an owner of everything. */
export interface Requirement {
  readonly owners: number;
  readonly admins: number;
}

/** Whether every commit must have a `Signed-off-by` line, and a signature that the forge verified. */
export interface CommitsPolicy {
  readonly signOff: boolean;
  readonly verified: boolean;
}

/** A check of others that the status waits for. */
export interface RequiredCheck {
  /** Of the check run, or context of the status. */
  readonly name: string;
  /** Number of the GitHub App that must have made it. */
  readonly app: number;
  /** Path of the workflow that must have made it; undefined for any. */
  readonly workflow: string | undefined;
}

export interface RuleSetting {
  /** Undefined where the rule's own severity stays. */
  readonly severity: Severity | 'off' | undefined;
  /** `off`: its findings are reported with their severity, and fail nothing. */
  readonly enforce: 'on' | 'off';
  /** Patterns of channels in which its findings are only said. */
  readonly allowChannels: readonly string[];
}

export interface Waiver {
  readonly rule: string;
  readonly package: string;
  /** Pattern of catalogs; every catalog when undefined. */
  readonly catalog: string | undefined;
  /** Last day on which it holds, `YYYY-MM-DD` in UTC. */
  readonly until: string;
  readonly reason: string;
  /** Where it is written. */
  readonly location?: Location;
}

export interface Limits {
  /** Most bytes of a file, most changed files of a pull request, and most documents of a catalog. */
  readonly fileBytes: number;
  readonly files: number;
  readonly documents: number;
  /** Most entries of a package's channels, and alternatives of their ranges. */
  readonly entries: number;
  /** Deepest nesting of a document, and most aliases in it. */
  readonly depth: number;
  readonly aliases: number;
  /** Bytes of untouched files that are read for what surrounds a change. */
  readonly contextBytes: number;
  /** Most values of a file. */
  readonly nodes: number;
}

/** Whether and how Portolan merges pull requests that pass: through the forge's merge queue, or directly. */
export interface MergePolicy {
  readonly mode: 'off' | 'auto';
  readonly method: 'squash' | 'merge' | 'rebase';
  readonly via: 'queue-if-enabled' | 'queue' | 'direct';
}

export interface GraphPolicy {
  /** Versions of OLM on the clusters. */
  readonly olm: readonly ('v0' | 'v1')[];
  /** Catalogs in the order of platform upgrades; empty when the policy does not say. */
  readonly catalogOrder: readonly string[];
  /** Other catalogs on the same clusters: index images by reference, or paths in the repository. */
  readonly companions: readonly string[];
  /** Public catalogs whose package names are taken, whether or not they are on the same clusters. */
  readonly otherCatalogs: readonly string[];
  /** Where versions that were ever published stand: the branch's history, or a ledger file. */
  readonly published: 'git' | { readonly ledger: string };
  /** What counts as published; the first whose pattern matches a catalog's name counts. */
  readonly released: readonly Released[];
  /** Which merged bundles may be rebuilt, because another pipeline releases them later. */
  readonly rebuilds: 'none' | 'heads';
  /** Paths of sets of operators that are published to be installed together under OLM v1. */
  readonly installSets: readonly string[];
}

/** What counts as published of the catalogs that a pattern matches. */
export interface Released {
  readonly pattern: string;
  readonly by: 'branch' | 'nothing' | ReleasedSources;
}

/** Places that have what was published; what any of them has counts. */
export interface ReleasedSources {
  /** Reference of an index image, in which `{catalog}` and `{minor}` stand for the catalog's name and platform. */
  readonly image?: string;
  /** Path of a ledger in the repository. */
  readonly ledger?: string;
}

/** Patterns of registries and repositories: see `repositoryMatcher`. */
export interface RegistriesPolicy {
  /** Where images may come from; nowhere else is asked. */
  readonly allow: readonly string[];
  /** Where the job's own credentials are used. */
  readonly credentials: readonly string[];
  /** Hosts and address ranges of internal networks that may be connected to. */
  readonly internal: readonly string[];
  /** Where the lock of a catalog lies; `{catalog}` stands for its name. */
  readonly lock: string;
  /** Where images are read whose references name another place. */
  readonly mirrors: readonly MirrorRule[];
  /** Which images must be signed; the first whose patterns match counts. */
  readonly signatures: readonly SignatureDemand[];
  /** External checks that images must have passed; all whose patterns match count. */
  readonly attestations: readonly AttestationDemand[];
}

interface SignatureDemand {
  /** Patterns of registries and repositories. */
  readonly from: readonly string[];
  /** By whom. */
  readonly trust: Trust;
}

export interface AttestationDemand extends SignatureDemand {
  /** What the report calls the check. */
  readonly name: string;
  readonly predicateType: string;
  /** What the predicate must say; `none` where the statement alone counts. */
  readonly result: RequiredResult;
}

/** Values by field, with dots between the names of inner fields; `default` for that of in-toto's results. */
export type RequiredResult = 'default' | 'none' | ReadonlyMap<string, string>;

export interface ReleasePolicy {
  /** Reference of a bundle's image, in which `{package}` and `{version}` stand for its folders' names. */
  readonly bundles: string;
  /** What the catalogs that take a bundle become: a pull request, or a commit on the branch. */
  readonly mode: 'propose' | 'commit' | 'off';
}

export interface PublishPolicy {
  /** The first whose pattern matches a catalog's name counts. */
  readonly catalogs: readonly PublishTarget[];
  /** What becomes of the image of a catalog that the branch or the policy has no more. */
  readonly retired: Retirement;
  /** The role that the publish job assumes with OIDC. */
  readonly role: string | undefined;
}

/** The place of a ring: `image` with another tag. A tag follows a colon behind the last slash; a port does not. */
export function withTag(image: string, tag: string): string {
  return `${image.replace(/:[^/:]*$/, '')}:${tag}`;
}

export interface PublishTarget {
  readonly pattern: string;
  /** Reference of the index image, in which `{catalog}` stands for the catalog's name. */
  readonly image: string;
  /** Further tags and places of the same image, written as it is. */
  readonly also: readonly string[];
  /** Where the image for OLM v1 alone goes, written as `image` is. */
  readonly slim: string | undefined;
  /** Reference of the base image; undefined for an image without one. */
  readonly base: string | undefined;
  /** Of an image without a base; undefined for all that clusters run on. */
  readonly platforms: readonly string[] | undefined;
  /** Whether the image has opm's cache. */
  readonly cache: 'json' | 'none';
  readonly compression: 'gzip' | 'zstd';
  /** Labels of the image. */
  readonly labels: Readonly<Record<string, string>>;
  /** What is put beside the image; `keyless` signs the provenance by the job's OIDC identity, `kms` by the functions' key. */
  readonly attest: readonly ('sbom' | 'provenance' | 'upgrade-safety' | 'keyless' | 'kms')[];
  /** Whether every image gets a tag of its own that never moves as well. */
  readonly immutableTags: boolean;
  /** How many images with such tags stay in a registry; all when undefined. */
  readonly keep: number | undefined;
  /** Registry and path for which mirror manifests are written. */
  readonly mirrorTo: string | undefined;
  /** Tags that an image reaches one after the other, in the repository of `image`; none where a merge moves its tag. */
  readonly rings: readonly Ring[];
}

/** A tag that an image reaches when it has stood under the one before for long enough. */
export interface Ring {
  /** In which `{catalog}` stands for the catalog's name. */
  readonly tag: string;
  /** How long the image has been in the ring before, in ms; 0 for the first ring, which a merge moves. */
  readonly after: number;
  /** What keeps the ring closed besides. */
  readonly unless: readonly ('hold' | 'stranding')[];
  /** Names of commit statuses or check runs that must have succeeded. */
  readonly checks: readonly string[];
  /** How many people must ask for it to open early. */
  readonly approvals: number;
}
