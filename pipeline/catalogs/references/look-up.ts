/** Asking registries what references name: each once, many at a time, only where that is allowed. */
import { isObject } from '../../../catalog/go/shape.ts';
import { parseJson } from '../../../catalog/json.ts';
import { formatReference, type Reference, withDigest } from '../../../catalog/reference.ts';
import type { ExternalCheck, Lookup } from '../../../catalog/references/lookup.ts';
import { lookupKey } from '../../../catalog/references/site.ts';
import { PipelineError } from '../../error.ts';
import { LIST_TYPES, parseManifest } from '../../oci/registry/image.ts';
import { MirrorFailure } from '../../oci/registry/mirrored.ts';
import { allOf } from '../../oci/registry/stream.ts';
import type { Trust } from '../../oci/signatures/signatures.ts';
import {
  isSigned,
  type SignatureReport,
  verifySignatures,
  whyUnsigned,
} from '../../oci/signatures/verify.ts';
import type { AttestationDemand, RequiredResult } from '../../policy/policy.ts';
import type { AttestationDemands, RepositoryMatcher, SignatureDemands } from '../../policy/registries.ts';
import type { Descriptor, Registry } from '../../ports.ts';

interface LookUpOptions {
  readonly registry: Registry;
  /** Asked before any request; every registry may be asked when left out. */
  readonly allows?: RepositoryMatcher | undefined;
  /** By `lookupKey`, the images of which the platforms are looked up too. */
  readonly platforms?: ReadonlySet<string> | undefined;
  /** Whose signatures are demanded; nobody's when left out. */
  readonly signed?: SignatureDemands | undefined;
  /** Which external checks are demanded; none when left out. */
  readonly attested?: AttestationDemands | undefined;
}

/** Questions at a time; how many of them go to one host at a time is the client's to say. */
const AT_A_TIME = 128;

/**
 * Looks references up.
 *
 * @returns by `lookupKey`; what could not be found out is `unknown`, with the reason
 */
export async function lookUp(
  references: Iterable<Reference>,
  options: LookUpOptions,
): Promise<ReadonlyMap<string, Lookup>> {
  const wanted = new Map<string, Reference>();
  // Entered in their order, whatever comes back first.
  const lookups = new Map<string, Lookup>();
  for (const reference of references) {
    const key = lookupKey(reference);
    wanted.set(key, reference);
    lookups.set(key, UNASKED);
  }
  // Why a registry does not answer, by its host: it is not asked again.
  const silent = new Map<string, Unknown>();
  // One iterator for all workers: each takes the next reference from it.
  const queue = wanted.entries();
  const worker = async (): Promise<void> => {
    for (const [key, reference] of queue)
      lookups.set(key, await lookUpOne(key, reference, { ...options, silent }));
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, wanted.size) }, worker));
  return lookups;
}

type Unknown = Extract<Lookup, { kind: 'unknown' }>;

/** The result until a reference's turn comes; it stays only if the look-up ends before that. */
const UNASKED: Lookup = { kind: 'unknown', why: 'Portolan did not look it up' };

/**
 * Whether a reason holds for every image of a registry, which is not asked again then. An answer that another try
 * does not mend is about the one image, and a mirror's failure is not one of the registry that it mirrors.
 */
function isOfTheHost(error: PipelineError): boolean {
  const own = error instanceof MirrorFailure ? error.ofSource : error;
  if (own === undefined) return false;
  const { code, retryable } = own;
  return code === 'unreachable' || code === 'rate-limited' || (code === 'bad-answer' && retryable);
}

/**
 * Looks up one reference, with the signature and checks that are demanded. A registry that does not answer is not asked
 * again.
 */
async function lookUpOne(
  key: string,
  reference: Reference,
  options: LookUpOptions & { readonly silent: Map<string, Unknown> },
): Promise<Lookup> {
  const { allows, silent } = options;
  if (allows && !allows(reference)) return { kind: 'not-allowed' };
  const known = silent.get(reference.registry);
  if (known !== undefined) return known;
  try {
    const found = await answerOf(key, reference, options);
    const trust = options.signed?.(reference);
    const signed =
      found.kind === 'found' && trust ? await withSignature(found, reference, { ...options, trust }) : found;
    const demands = options.attested?.(reference) ?? [];
    return signed.kind === 'found' && demands.length > 0
      ? await withChecks(signed, reference, { ...options, demands })
      : signed;
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    if (error.code === 'not-found') return { kind: 'absent' };
    const unknown = unknownBecause(error);
    if (isOfTheHost(error)) silent.set(reference.registry, unknown);
    return unknown;
  }
}

/**
 * What the registry says of one reference. Platforms need a manifest, so they are looked up only where they are asked
 * for.
 */
async function answerOf(key: string, reference: Reference, options: LookUpOptions): Promise<Lookup> {
  if (options.platforms?.has(key)) return withPlatforms(reference, options);
  const found = await options.registry.resolve(reference);
  if (!found) return { kind: 'absent' };
  return {
    kind: 'found',
    digest: found.digest,
    ...(LIST_TYPES.has(found.mediaType) ? { isList: true } : {}),
  };
}

/** The image that was found, with why it counts as unsigned if it does. */
async function withSignature(
  found: Extract<Lookup, { kind: 'found' }>,
  reference: Reference,
  { registry, trust }: LookUpOptions & { readonly trust: Trust },
): Promise<Lookup> {
  const image = withDigest(reference, found.digest);
  try {
    const report = await verifySignatures(registry, image, trust);
    return isSigned(report) ? found : { ...found, unsigned: whyUnsigned(report) };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    // Whatever became of its signatures: the image is there, and its registry answers.
    return unknownBecause(error);
  }
}

/** The image that was found, with the results of the checks that its attestations state. */
async function withChecks(
  found: Extract<Lookup, { kind: 'found' }>,
  reference: Reference,
  { registry, demands }: LookUpOptions & { readonly demands: readonly AttestationDemand[] },
): Promise<Lookup> {
  const image = withDigest(reference, found.digest);
  try {
    const checks: ExternalCheck[] = [];
    for (const { name, trust, predicateType, result } of demands) {
      const report = await verifySignatures(registry, image, trust);
      const [unread] = report.unread;
      // Any statement that failed counts more than those that passed: all must have been read.
      if (unread) return unreadStatement(unread);
      checks.push({ name, ...checkIn(report, predicateType, result) });
    }
    return { ...found, checks };
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    return unknownBecause(error);
  }
}

/** The result where a statement cannot be read: it may be one that says that the check failed. */
function unreadStatement({ where, why }: SignatureReport['unread'][number]): Unknown {
  return {
    kind: 'unknown',
    why: `cannot read all statements about it: ${where}: ${why}`,
    hint: 'delete the referrers that nobody needs (policy: registries.attestations)',
  };
}

/** How statements say whether a check passed: in-toto's test results, and summaries of verifications. */
const RESULT_KEYS = ['result', 'verificationResult'] as const;

type CheckResult =
  | { readonly kind: 'passed'; readonly by: string }
  | { readonly kind: 'missing'; readonly why: string };

/** The result that an image's statements of one type give. One that failed counts more than those that passed. */
function checkIn(report: SignatureReport, predicateType: string, required: RequiredResult): CheckResult {
  const { verified, rejected } = report;
  const own = verified.filter(({ says }) => says === predicateType);
  for (const { predicate, where, by } of own) {
    const why = whyFailed(predicate, required);
    if (why !== undefined) return { kind: 'missing', why: `${where}, made by ${by}, ${why}` };
  }
  const [passed] = own;
  if (passed) return { kind: 'passed', by: passed.by };
  return { kind: 'missing', why: rejected.length > 0 ? whyUnsigned(report) : 'it has no such statement' };
}

/** Why a statement does not say what it must; undefined where it does. Another result than `PASSED` never does. */
function whyFailed(predicate: unknown, required: RequiredResult): string | undefined {
  const fields = isObject(predicate) ? predicate : {};
  // Of a field that the policy names, its own value counts, also of a result.
  const named = typeof required === 'string' ? NOTHING : required;
  const results = RESULT_KEYS.filter((key) => !named.has(key) && Object.hasOwn(fields, key));
  if (results.some((key) => fields[key] !== 'PASSED')) return 'does not say PASSED';
  // Not every type has results: the policy says so.
  if (required === 'default' && results.length === 0) return 'has no result (policy: result)';
  return whyNot(fields, named);
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/** Why a statement lacks a value that the policy demands; undefined if it has all of them. */
function whyNot(predicate: object, required: ReadonlyMap<string, string>): string | undefined {
  for (const [field, value] of required) {
    const found = fieldOf(predicate, field);
    if (found !== value) return `says ${field}: ${found ?? 'nothing'}, not ${value}`;
  }
  return undefined;
}

/** A value in an object, as text; undefined for none, and for lists and objects. */
function fieldOf(predicate: object, field: string): string | undefined {
  let value: unknown = predicate;
  for (const name of field.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** The result of a look-up that failed, with the reason. */
function unknownBecause({ message, hint }: PipelineError): Unknown {
  return { kind: 'unknown', why: message, ...(hint === undefined ? {} : { hint }) };
}

/** Looks up an image with its platforms: those of a list, or the one in the image's configuration. */
async function withPlatforms(reference: Reference, { registry }: LookUpOptions): Promise<Lookup> {
  const manifest = await registry.getManifest(reference);
  if (!manifest) return { kind: 'absent' };
  const { digest } = manifest;
  const parsed = parseManifest(manifest);
  if (parsed.kind === 'list') {
    const listed = parsed.manifests.flatMap(({ platform }) => platform ?? []);
    // Statements of BuildKit about the images stand beside them, for the platform `unknown/unknown`.
    const real = listed.filter(({ os, architecture }) => os !== 'unknown' && architecture !== 'unknown');
    return { kind: 'found', digest, isList: true, platforms: unique(real.map(platformText)) };
  }
  const config = await readConfig(reference, parsed.config, registry);
  return { kind: 'found', digest, platforms: [platformText(config)] };
}

/** Bytes of a configuration at most. */
const LARGEST_CONFIG = 4 * 1024 * 1024;

/** The platform that an image's configuration declares. @throws PipelineError `bad-answer` if it declares none */
async function readConfig(
  reference: Reference,
  config: Descriptor,
  registry: Registry,
): Promise<{ os: string; architecture: string }> {
  if (config.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `an image's configuration has ${config.size} bytes`);
  }
  const bytes = await allOf(registry.getBlob(reference, config));
  try {
    const { os, architecture } = Object(parseJson(bytes));
    if (typeof os === 'string' && typeof architecture === 'string') return { os, architecture };
  } catch {
    // Not JSON: it declares no platform.
  }
  throw new PipelineError('bad-answer', `${formatReference(reference)} does not declare its platform`);
}

function platformText({ os, architecture }: { readonly os: string; readonly architecture: string }): string {
  return `${os}/${architecture}`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
