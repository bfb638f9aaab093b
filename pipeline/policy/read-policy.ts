/**
 * The policy file: read, checked, and made whole with the only defaults there are. Wrong
 * keys and values are findings, each on its line.
 */

import { MOST_ENTRIES } from '../../catalog/fbc/load.ts';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { PipelineError } from '../error.ts';
import { bytesWithin, type ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt } from '../git/tree.ts';
import type { Trust } from '../oci/signatures/signatures.ts';
import { parseDuration } from '../text.ts';
import { readPolicyDocument } from './document.ts';
import { type Identity, parseIdentity } from './identity.ts';
import { compileLayout, type Layout, type LayoutPattern, PATH_KINDS, type PathKind } from './layout.ts';
import type {
  AllowableClass,
  ApprovalPolicy,
  GraphPolicy,
  Limits,
  OwnersPolicy,
  OwnersSource,
  Policy,
  PublishPolicy,
  RegistriesPolicy,
  RequiredResult,
  Requirement,
  Ring,
  RuleSetting,
  Waiver,
} from './policy.ts';
import type {
  PolicyFile,
  WrittenAttestation,
  WrittenRing,
  WrittenRule,
  WrittenSignature,
} from './policy-file.ts';
import { validatePolicy } from './validate-policy.ts';

/** Where the policy lies in a repository. */
export const POLICY_PATH = '.github/portolan.yaml';

export interface PolicyRead {
  /** Undefined when the file has findings: nothing may be decided by half a policy. */
  readonly policy: Policy | undefined;
  /** Whether the repository has no policy, so that the defaults hold; reports say so. */
  readonly defaults: boolean;
  readonly findings: readonly Finding[];
}

/**
 * Reads the policy of a repository.
 *
 * @param bytes of the file on the base branch; undefined when there is none
 * @param path of the file, for findings
 */
export function readPolicy(bytes: Uint8Array | undefined, path: string = POLICY_PATH): PolicyRead {
  if (bytes === undefined) return { policy: withDefaults({}, []), defaults: true, findings: [] };
  const { settings, findings: unread } = readPolicyDocument(path, bytes);
  const validated = settings ? validatePolicy(settings) : { written: undefined, findings: [] };
  const findings = [...unread, ...validated.findings].sort(compareFindings);
  if (!settings || !validated.written || findings.length > 0)
    return { policy: undefined, defaults: false, findings };
  const waivers = (validated.written.waivers ?? []).map(
    (waiver, i): Waiver => ({
      ...waiver,
      catalog: waiver.catalog,
      location: settings.locate(['waivers', i]),
    }),
  );
  const policy = withDefaults(validated.written, waivers);
  return { policy, defaults: false, findings };
}

/** Largest policy that is read, in bytes. */
const POLICY_BYTES = 1024 * 1024;

/**
 * Reads the policy as it stands in a tree: that of the base branch, never that of a
 * pull request.
 *
 * @param tree id of a tree or commit
 * @throws PipelineError `not-found` when the clone lacks objects
 */
export async function policyAt(objects: ObjectReader, tree: string): Promise<PolicyRead> {
  const entry = await entryAt(objects, tree, POLICY_PATH);
  if (!entry) return readPolicy(undefined);
  const unreadable = whyUnreadable(entry.mode);
  if (unreadable !== undefined) return noPolicy(`the policy is ${unreadable}, expected a regular file`);
  const bytes = await bytesWithin(objects, entry.id, POLICY_BYTES);
  return bytes ? readPolicy(bytes) : noPolicy(`the policy is larger than ${POLICY_BYTES} bytes`);
}

/** The policy in a tree. @throws PipelineError `usage` where it is not valid, `not-found` when the clone lacks objects */
export async function readablePolicyAt(objects: ObjectReader, tree: string): Promise<Policy> {
  const { policy, findings } = await policyAt(objects, tree);
  if (policy) return policy;
  throw new PipelineError('usage', `the policy is not valid: ${findings[0]?.message}`, {
    hint: 'run portolan check --base HEAD for all errors',
  });
}

/** The result without a policy, with the reason as an error: nothing is checked by a policy that was not read. */
function noPolicy(message: string): PolicyRead {
  const location = { file: POLICY_PATH, line: 1, column: 1 };
  const finding: Finding = { rule: 'policy/file', severity: 'error', message, location };
  return { policy: undefined, defaults: false, findings: [finding] };
}

/**
 * A policy with everything that was left out filled in. A key without a default, as `paths` or `workflow`, is named
 * again where it may be left out: it is then there and undefined.
 */
function withDefaults(written: PolicyFile, waivers: readonly Waiver[]): Policy {
  const { automation = [], commits = {}, merge = {} } = written;
  return {
    enforce: written.enforce ?? 'on',
    branches: written.branches ?? ['*'],
    layout: layoutOf(written.layout ?? {}, written.bundleCatalogs),
    owners: ownersOf(written.owners ?? {}),
    reservedNames: written.reservedNames ?? [],
    automation: automation.map((one) => ({ ...one, paths: one.paths, maxPackages: one.maxPackages ?? 1 })),
    approval: approvalOf(written.approval ?? {}),
    commits: { signOff: commits.signOff ?? false, verified: commits.verified ?? false },
    requiredChecks: (written.checks?.required ?? []).map((check) => ({ ...check, workflow: check.workflow })),
    presets: written.presets ?? [],
    rules: new Map(Object.entries(written.rules ?? {}).map(([id, rule]) => [id, ruleOf(rule)])),
    waivers,
    limits: limitsOf(written.limits ?? {}),
    merge: {
      mode: merge.mode ?? 'off',
      method: merge.method ?? 'squash',
      via: merge.via ?? 'queue-if-enabled',
    },
    suggestions: written.suggestions ?? true,
    labels: written.labels ?? false,
    graph: graphOf(written.graph ?? {}),
    registries: registriesOf(written.registries ?? {}),
    promotion: written.promotion && { ...written.promotion, group: written.promotion.group ?? false },
    release: written.release && { ...written.release, mode: written.release.mode ?? 'off' },
    publish: publishOf(written.publish ?? {}),
    fleet: {
      files: written.fleet?.files ?? [],
      approvals: (written.fleet?.approvals ?? []).map(({ clusters, share, required }) => ({
        clusters,
        share,
        required: requirementOf(required),
      })),
    },
  };
}

/** A section of the policy as it is written. */
type Part<K extends keyof PolicyFile> = NonNullable<PolicyFile[K]>;

/** The layout of community repositories, which hold operators and their catalogs side by side. */
export const DEFAULT_LAYOUT: Readonly<Record<PathKind, readonly string[]>> = {
  template: ['operators/{package}/catalog-templates/**'],
  packageConfig: ['operators/{package}/{ci.yaml,Makefile}'],
  composite: [],
  catalog: [
    'catalogs/{catalog}/{package}/**',
    // Catalogs in one file, and those of people who have but one catalog.
    'catalogs/{catalog}/{catalog,index}.{yaml,yml,json}',
    'catalogs/{catalog,index}.{yaml,yml,json}',
    'catalog/{package}/{catalog,index}.{yaml,yml,json}',
    'catalog/{catalog,index}.{yaml,yml,json}',
    'configs/{package}/{catalog,index}.{yaml,yml,json}',
    'catalog.yaml',
    'catalog.json',
  ],
  bundle: ['operators/{package}/{version}/**'],
};

/** The layout of a policy. Kinds that the policy lists come first, in its order, since the first match decides. */
function layoutOf(written: Part<'layout'>, bundleCatalogs: PolicyFile['bundleCatalogs']): Layout {
  const order = [
    ...Object.keys(written).filter(isPathKind),
    ...PATH_KINDS.filter((kind) => !(kind in written)),
  ];
  return compileLayout(
    order.flatMap((kind): LayoutPattern[] => {
      const patterns = written[kind] ?? DEFAULT_LAYOUT[kind];
      return (typeof patterns === 'string' ? [patterns] : patterns).map((one) =>
        typeof one === 'string' ? { kind, pattern: one } : { kind, pattern: one.path, name: one.name },
      );
    }),
    bundleCatalogs && { names: bundleCatalogs.names, image: bundleCatalogs.image },
  );
}

function isPathKind(text: string): text is PathKind {
  return (PATH_KINDS as readonly string[]).includes(text);
}

/** Where owners are named if the policy does not say: as community repositories and prow have them. */
const SOURCES: readonly OwnersSource[] = [
  { path: 'operators/{package}/ci.yaml', format: 'ci.yaml' },
  { path: '{dir}/OWNERS', format: 'prow' },
];

/** Whom the policy names, with defaults. */
function ownersOf(written: Part<'owners'>): OwnersPolicy {
  return {
    admins: identitiesOf(written.admins),
    blocked: identitiesOf(written.blocked),
    sources: written.sources ?? SOURCES,
    packages: new Map(
      Object.entries(written.packages ?? {}).map(([name, owners]) => [name, identitiesOf(owners)]),
    ),
    allowTeams: written.allowTeams ?? true,
  };
}

/** The accounts and teams of a list; the schema has refused whatever is neither. */
function identitiesOf(written: readonly string[] = []): Identity[] {
  return written.flatMap((text) => parseIdentity(text) ?? []);
}

/** The approvals that each class needs by default. A change of a package needs one of its owners besides. */
const REQUIRED: Readonly<Record<AllowableClass, string>> = {
  'add-entry': 'owners',
  'edit-graph': 'owners',
  promote: 'owners',
  'package-config': 'owners',
  prune: 'owners',
  ownership: 'owners',
  'mutate-published': 'admins',
  'new-package': 'admins',
  'delete-package': 'owners+admins',
  'new-catalog': 'admins',
  'delete-catalog': 'admins',
  advisory: 'admins',
  repository: 'admins',
  root: 'admins',
  unknown: 'admins',
  gate: 'admins:2',
};

/** The section `approval` with its defaults. */
function approvalOf({
  pin,
  ownerSelfApproval,
  pusherMustBeOwner,
  ask,
  required,
}: Part<'approval'>): ApprovalPolicy {
  const { 'multi-package': multiPackage, ...classes } = required ?? {};
  return {
    pin: pin ?? 'content',
    ownerSelfApproval: ownerSelfApproval ?? true,
    pusherMustBeOwner: pusherMustBeOwner ?? true,
    ask: ask ?? true,
    required: new Map(
      Object.entries({ ...REQUIRED, ...classes }).map(([name, text]) => [
        name as AllowableClass,
        requirementOf(text),
      ]),
    ),
    multiPackage: multiPackage === 'admins' ? 'admins' : 'each',
  };
}

/** Reads `owners`, `admins:2`, `owners+admins` or `none`: a role without a number counts as 1, one that is not named as 0. */
function requirementOf(text: string): Requirement {
  const count = (role: string): number => {
    const [, found, times = '1'] = new RegExp(`(${role})(?::([1-9]))?`).exec(text) ?? [];
    return found === undefined ? 0 : Number(times);
  };
  return { owners: count('owners'), admins: count('admins') };
}

/** A rule with its defaults; a mere severity is short for a rule with no other settings. */
function ruleOf(written: WrittenRule): RuleSetting {
  if (typeof written === 'string') return { severity: written, enforce: 'on', allowChannels: [] };
  const { severity, enforce = 'on', allowChannels = [] } = written;
  return { severity, enforce, allowChannels };
}

/** Most values of any file. The full reader of YAML takes 6 s and 500 MB for them. */
const MOST_NODES = 1_000_000;

/** The section `limits` with its defaults (docs/policy-reference.md); sizes are in bytes. */
function limitsOf(written: Part<'limits'>): Limits {
  const { fileBytes, files, docs, entries, depth, aliases, contextBytes } = written;
  return {
    fileBytes: fileBytes ?? 32 * 1024 * 1024,
    files: files ?? 3000,
    documents: docs ?? 20_000,
    entries: entries ?? MOST_ENTRIES,
    depth: depth ?? 100,
    aliases: aliases ?? 50,
    contextBytes: contextBytes ?? 256 * 1024 * 1024,
    nodes: MOST_NODES,
  };
}

/** The section `graph` with its defaults. */
function graphOf({
  olm,
  catalogOrder,
  companions,
  otherCatalogs,
  published,
  released = {},
  rebuilds = 'none',
  installSets = [],
}: Part<'graph'>): GraphPolicy {
  return {
    olm: olm ?? ['v0', 'v1'],
    catalogOrder: catalogOrder ?? [],
    companions: companions ?? [],
    otherCatalogs: otherCatalogs ?? [],
    published: published ?? 'git',
    released: Object.entries(released).map(([pattern, by]) => ({ pattern, by })),
    rebuilds,
    installSets,
  };
}

/** The section `registries` with its defaults. */
function registriesOf({
  allow,
  credentials,
  internal,
  lock,
  mirrors = [],
  signatures = [],
  attestations = [],
}: Part<'registries'>): RegistriesPolicy {
  return {
    allow: allow ?? [],
    credentials: credentials ?? [],
    internal: internal ?? [],
    lock: lock ?? 'catalogs/{catalog}.lock.json',
    mirrors: mirrors.map(({ source, mirrors, mirrorSourcePolicy }) => ({
      source,
      mirrors,
      blocksSource: mirrorSourcePolicy === 'NeverContactSource',
    })),
    signatures: signatures.map((demand) => ({ from: demand.from, trust: trustOf(demand) })),
    attestations: attestations.map((demand) => ({
      name: demand.name,
      predicateType: demand.predicateType,
      result: resultOf(demand),
      from: demand.from,
      trust: trustOf(demand),
    })),
  };
}

/** What a statement must say: values as texts, which is how they are compared. */
function resultOf({ result }: WrittenAttestation): RequiredResult {
  if (result === undefined) return 'default';
  if (typeof result === 'string') return result;
  return new Map(Object.entries(result).map(([field, value]) => [field, String(value)]));
}

/** Whom to trust: keys, or an identity with its issuer, both of which the schema then requires. */
function trustOf({ keys, identity = '', issuer = '', trustedRoot: root }: WrittenSignature): Trust {
  if (keys) return { kind: 'keys', keys };
  return { kind: 'identity', identity, issuer, ...(root === undefined ? {} : { root }) };
}

/** A ring with its defaults. The first ring has no `after`: a merge moves its tag. */
function ringOf({ tag, after, unless, checks, approvals }: WrittenRing): Ring {
  return {
    tag,
    // The schema has refused what is not a duration.
    after: (after === undefined ? undefined : parseDuration(after)) ?? 0,
    unless: unless ?? ['hold', 'stranding'],
    checks: checks ?? [],
    approvals: approvals ?? 1,
  };
}

/** The section `publish` with its defaults. */
function publishOf({ catalogs = {}, retired, role }: Part<'publish'>): PublishPolicy {
  return {
    catalogs: Object.entries(catalogs).map(([pattern, { image, slim, base, mirrorTo, ...written }]) => ({
      pattern,
      image,
      also: written.also ?? [],
      slim,
      base,
      platforms: written.platforms,
      cache: written.cache ?? 'json',
      compression: written.compression ?? 'gzip',
      labels: written.labels ?? {},
      attest: written.attest ?? [],
      immutableTags: written.immutableTags ?? true,
      keep: written.keep,
      mirrorTo,
      rings: (written.rings ?? []).map(ringOf),
    })),
    retired: retired ?? 'keep',
    role,
  };
}
