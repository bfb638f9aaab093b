/**
 * What a `mapping.txt` asks for, as single copies: lines of oc-mirror's own registry are
 * put together, patterns of tags are written out.
 */
import type { Finding } from '../../catalog/finding.ts';
import { isSameContent, type Mapping, type MappingLine } from '../../catalog/mirror/mapping.ts';
import { eitherPlatforms, withPlatforms } from '../../catalog/mirror/platforms.ts';
import { parseHome } from '../../catalog/mirror/style.ts';
import {
  formatReference,
  oneRegistry,
  type Reference,
  repositoryName,
  tryParseReference,
  withDigest,
} from '../../catalog/reference.ts';
import type { Registry } from '../ports.ts';
import { matchesGlob } from '../text.ts';
import { asUsage } from './prepare.ts';

/** One image to copy. */
export interface CopyJob extends Mapping {
  /** Where it is; undefined for an image layout, whose directory the source then names. */
  readonly from: Reference | undefined;
  /** A tag, or a digest where the mapping names no tag. */
  readonly to: Reference;
}

interface JobsRead {
  readonly jobs: readonly CopyJob[];
  /** Lines that cannot be carried out. */
  readonly findings: readonly Finding[];
}

/** The address of a registry of oc-mirror's own, which it fills before the real one. */
const CACHE = /^localhost:\d+\//;

/** Whether a line fills oc-mirror's own registry. A mirror of somebody else may have such an address, too, in oc's lines. */
function fillsCache({ destination, hasTransport }: MappingLine): boolean {
  return hasTransport === true && CACHE.test(destination);
}

/**
 * The copies of a mapping.
 *
 * @param registry where tags are looked up that a pattern stands for
 * @param to what takes the place of oc-mirror's own registry, `HOST[:PORT][/PATH]`
 * @throws PipelineError what the registry answers, or `usage`
 */
export async function copyJobs(
  lines: readonly MappingLine[],
  registry: Pick<Registry, 'listTags'>,
  to?: string,
): Promise<JobsRead> {
  const findings: Finding[] = [];
  const jobs = new Map<string, CopyJob>();
  for (const line of throughCache(lines, to)) {
    const read = line.tags === undefined ? [jobOf(line)] : await jobsOfTags(line, registry);
    for (const job of read) {
      if (typeof job === 'string') {
        findings.push(defect(line, job));
        continue;
      }
      const place = placeOf(job);
      const before = jobs.get(place);
      if (!before) jobs.set(place, job);
      else if (before.source !== job.source && !isSameContent(before.source, job.source))
        findings.push(defect(line, `${job.destination} is already the destination of another image`));
      else jobs.set(place, withBoth(before, job));
    }
  }
  return { jobs: [...jobs.values()], findings };
}

/** The destination of a job, equal for all spellings of its registry; of one without a tag, the repository: oc takes it once, too. */
function placeOf({ to }: CopyJob): string {
  const { repository } = to;
  return formatReference({
    ...(to.kind === 'tag' ? to : { kind: 'tag', repository, tag: '' }),
    registry: oneRegistry(to.registry),
  });
}

/** One copy for two lines: it has the platforms of both. */
function withBoth({ platforms, ...job }: CopyJob, other: CopyJob): CopyJob {
  return { ...job, ...withPlatforms(eitherPlatforms(platforms, other.platforms)) };
}

/** The finding for a line of the mapping that cannot be carried out. */
function defect({ location }: MappingLine, message: string): Finding {
  return { rule: 'mirror/mapping', severity: 'error', message, location };
}

/**
 * Lines from the sources to the mirror, without the stop at oc-mirror's own registry: that registry exists
 * only while oc-mirror runs.
 */
function throughCache(lines: readonly MappingLine[], to: string | undefined): readonly MappingLine[] {
  // oc-mirror's lines fill its own registry first, from the sources, and then read from it.
  const fillingLines = new Map(lines.filter(fillsCache).map((line) => [line.destination, line]));
  if (fillingLines.size === 0) return lines;
  const readFromCache = new Set(lines.map(({ source }) => source));
  const copiedDirectly = new Set(lines.filter((line) => !fillsCache(line)).map(({ source }) => source));
  const home = to === undefined ? undefined : asUsage(() => parseHome(to));
  return lines.flatMap((line) => {
    if (!fillsCache(line)) {
      const filling = fillingLines.get(line.source);
      return [filling ? { ...line, source: filling.source } : line];
    }
    // Another line copies the image to the mirror.
    if (readFromCache.has(line.destination) || copiedDirectly.has(line.source)) return [];
    // Nobody says where the mirror is: the line is carried out as it is written.
    if (!home) return [line];
    const prefix = home.path === '' ? home.registry : `${home.registry}/${home.path}`;
    return [{ ...line, destination: line.destination.replace(CACHE, `${prefix}/`) }];
  });
}

/** The copy, or why it cannot be made. */
function jobOf({ source, destination, platforms }: Mapping): CopyJob | string {
  for (const text of [source, destination]) {
    if (/^(?:file|s3):\/\//.test(text))
      return `${text} uses oc's file:// format: use --to-archive and --from-archive for archives`;
  }
  const from = source.startsWith('oci://') ? undefined : tryParseReference(source);
  if (!from && !source.startsWith('oci://')) return `${JSON.stringify(source)} is not a valid reference`;
  const to = tryParseReference(destination);
  if (!to) return `${JSON.stringify(destination)} is not a valid reference`;
  // Without a tag, the copy has the digest of its source. `tryParseReference` would read such a name as the tag `latest`.
  const isTagged = destination.lastIndexOf(':') > destination.lastIndexOf('/');
  const job = { source, destination, from, ...withPlatforms(platforms) };
  return isTagged || from?.kind !== 'digest' ? { ...job, to } : { ...job, to: withDigest(to, from.digest) };
}

/** One copy for each tag that the pattern of a line means. */
async function jobsOfTags(
  { source, destination, tags = '*', platforms }: MappingLine,
  registry: Pick<Registry, 'listTags'>,
): Promise<(CopyJob | string)[]> {
  const repository = tryParseReference(source);
  if (!repository) return [`${JSON.stringify(source)} is not a valid repository`];
  const jobs: (CopyJob | string)[] = [];
  for await (const tag of registry.listTags(repository)) {
    if (matchesGlob(tags, tag))
      jobs.push(
        jobOf({
          source: `${source}:${tag}`,
          destination: `${destination}:${tag}`,
          ...withPlatforms(platforms),
        }),
      );
  }
  return jobs.length > 0 ? jobs : [`${repositoryName(repository)} has no tag ${tags}`];
}

/**
 * The hosts of all destinations. They may be on an internal network: whoever says where the mirror is means
 * it, while sources come out of catalogs.
 */
export function destinationHosts(mappings: readonly MappingLine[], to?: string): string[] {
  const places = [
    ...mappings.map(({ destination }) => destination),
    // Any repository makes a reference of it.
    ...(to === undefined ? [] : [`${to}/a`]),
  ];
  return [...new Set(places.flatMap((place) => tryParseReference(place)?.registry ?? []))];
}
