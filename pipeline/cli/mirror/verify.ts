import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { type CatalogImages, catalogImages } from '../../../catalog/mirror/images.ts';
import { type MappingLine, readMapping } from '../../../catalog/mirror/mapping.ts';
import { type MirrorRules, nodeConfig } from '../../../catalog/mirror/node/node.ts';
import { mirrorKinds, mirrorRules, type ReadObject, readObjects } from '../../../catalog/mirror/read.ts';
import { contentsOf, mirrorReadiness } from '../../../catalog/mirror/readiness.ts';
import { lacksNothing, readinessLines, readinessReport } from '../../../catalog/mirror/report.ts';
import { formatReference, type Reference } from '../../../catalog/reference.ts';
import { isFolder, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { checkPlanIn } from '../../mirror/archive/plan.ts';
import { type CopyJob, copyJobs, destinationHosts } from '../../mirror/copy-jobs.ts';
import { FRESHNESS, statementBeside, statementIn, statementTag } from '../../mirror/freshness.ts';
import { lookOnline, type Presence } from '../../mirror/presence.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, findingText, linesText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { documentFiles } from '../mirror-documents.ts';
import { openOperand } from '../operands.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { BUNDLES_OPTION, deployedImages } from './deployed-images.ts';
import {
  CHECKING_OPTIONS,
  type CheckedState,
  checkFreshness,
  checksFreshness,
  digestsIn,
  type FreshnessReport,
  freshnessLines,
  indexesBeside,
  namesOf,
  plannedIndexes,
  uncheckedNote,
} from './freshness.ts';

export const command: Command = {
  words: 'mirror verify',
  operands: '[DIR|IMAGE]',
  options: {
    documents: {
      value: 'PATH',
      description: 'mirror manifests: files, folders, or the output of oc get -o yaml',
      multiple: true,
    },
    mapping: {
      value: 'FILE',
      description: 'mapping.txt with the copied images (default: the one next to the documents)',
    },
    online: {
      description: 'also check in the mirror that each image exists, is complete and has its digest',
    },
    sources: { description: 'with --online: also check that each image exists at its source' },
    ...CHECKING_OPTIONS,
    ...BUNDLES_OPTION,
    all: { description: 'list every missing reference, not only the first ones' },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'With --online, Portolan reads the catalogs of the plan from the mirror, and contacts nothing else: all of them, or IMAGE.',
    'Add --sources to read IMAGE where it is released.',
  ].join('\n'),
  examples: [
    'portolan mirror verify --documents mirror --online --key mirror.pub',
    'portolan mirror verify catalogs/v4.20 --documents mirror',
    'oc get imagedigestmirrorset,imagetagmirrorset -o yaml > cluster.yaml && portolan mirror verify catalogs/v4.20 --documents cluster.yaml --mapping mirror/mapping.txt',
  ],
  run: async (invocation, terminal) => {
    const { operands, text, flag } = invocation;
    if (flag('sources') && !flag('online')) throw usageError(command, '--sources needs --online');
    const given = readGiven(invocation, terminal);
    const catalogs = await catalogsOf(operands[0], given, { invocation, terminal });
    const images = catalogs.flatMap(({ read }) => read ?? []);
    const findings = [...catalogs.flatMap((one) => one.findings), ...given.findings].sort(compareFindings);
    for (const finding of findings) terminal.err(findingText(finding));
    const asked = flag('online') ? await askRegistries(given.mappings, invocation, terminal) : undefined;
    const online = asked?.found;
    const mapped = contentsOf(given.mappings);
    // `due` is what the plan brings: it tells a missing image from one that nobody mirrors.
    const contents = online ? { ...contentsOf(online.filter(isThere)), due: mapped.places } : mapped;
    const report = readinessReport(mirrorReadiness(images, nodeConfig(given.rules), contents));
    const fresh = await freshnessOf(given, invocation, terminal);
    for (const finding of fresh.flatMap((one) => one.findings)) terminal.err(findingText(finding));
    if (text('format') === 'json') {
      await terminal.out(
        `${JSON.stringify({ ...report, ...(online && { online }), ...(checksFreshness(invocation) && { freshness: fresh }) }, null, 2)}\n`,
      );
    } else {
      const lines = readinessLines(report, flag('all') ? report.missing.length : undefined);
      const absent = presenceLines(online ?? []);
      await terminal.out(linesText([...lines, ...absent, ...fresh.flatMap(freshnessLines)]));
    }
    const isFresh = fresh.every((one) => one.findings.length === 0);
    const failed =
      !isFresh ||
      [...findings, ...(asked?.findings ?? [])].some(({ severity }) => severity === 'error') ||
      online?.every(isThere) === false;
    return failed || !lacksNothing(report) ? 1 : 0;
  },
};

interface Given {
  readonly rules: MirrorRules;
  readonly mappings: readonly MappingLine[];
  readonly mappingFile: string;
  readonly findings: readonly Finding[];
}

/** The documents and the mapping that the command line names. @throws PipelineError `usage` if it names none */
function readGiven({ list, needed, text }: Invocation, { directory }: Terminal): Given {
  const paths = list('documents').map((path) => resolve(directory, path));
  // Throws the error for an option that is missing.
  if (paths.length === 0) needed('documents');
  const beside = text('mapping') === undefined ? mappingIn(paths.filter(isFolder)) : undefined;
  const mappingFile = beside ?? resolve(directory, needed('mapping'));
  const folders = [...paths, mappingFile].map((path) => (isFolder(path) ? path : dirname(path)));
  for (const one of new Set(folders)) checkPlanIn(one);
  const read = paths.flatMap((path) => documentFiles(path)).map((file) => readObjects(readText(file), file));
  const objects = read.flatMap((one) => one.objects);
  const { rules, findings } = mirrorRules(objects);
  const copied = readMapping(readText(mappingFile), mappingFile);
  return {
    rules,
    mappings: copied.mappings,
    mappingFile,
    findings: [
      ...read.flatMap((one) => one.findings),
      ...findings,
      ...copied.findings,
      ...mixedPolicies(objects),
    ],
  };
}

/**
 * The mapping in the folders of the documents; undefined without folders.
 *
 * @throws PipelineError `usage` if several have one: what the others copied would count as missing
 */
function mappingIn(folders: readonly string[]): string | undefined {
  const files = folders.map((folder) => join(folder, 'mapping.txt'));
  const there = files.filter((file) => existsSync(file));
  if (there.length > 1)
    throw usageError(command, `--mapping is required: ${there.join(' and ')} are both beside documents`);
  // Without any, reading the first one says where a mapping was expected.
  return there[0] ?? files[0];
}

/** Whether the mirror has an image: nothing was found to be wrong with it there. */
function isThere({ atDestination }: Presence): boolean {
  return atDestination === undefined;
}

/** A line for each image that is missing; one line for all images of a mirror that did not answer. */
function presenceLines(online: readonly Presence[]): string[] {
  const unanswered = new Map<string, number>();
  for (const { atDestination, isUnanswered } of online)
    if (atDestination !== undefined && isUnanswered)
      unanswered.set(atDestination, (unanswered.get(atDestination) ?? 0) + 1);
  const lines = online.flatMap(({ source, destination, atSource, atDestination, isUnanswered }) => [
    ...(atDestination === undefined || isUnanswered
      ? []
      : [`  ${destination}, of ${source}: ${atDestination}`]),
    ...(atSource === undefined ? [] : [`  ${source} at its source: ${atSource}`]),
  ]);
  return [
    ...[...unanswered].map(([why, count]) => `  ${amountText(count, 'image')} not checked: ${why}`),
    ...lines,
  ];
}

/** A catalog to verify; not read where the mirror has something else in its place. */
interface VerifiedCatalog {
  readonly read: CatalogImages | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Reads the catalogs: with `--online` those of the plan from the mirror, as clusters do. Without, and with `--sources`,
 * the place that was named.
 *
 * @throws PipelineError as `openOperand`
 */
async function catalogsOf(
  operand: string | undefined,
  { mappingFile }: Given,
  asked: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<VerifiedCatalog[]> {
  const { flag } = asked.invocation;
  const planned = flag('online') && !flag('sources') ? indexesBeside(mappingFile) : [];
  const wanted = planned.filter(({ reference }) => operand === undefined || reference === operand);
  // No catalog of the plan is meant: the operand is a catalog itself, as a directory is.
  if (wanted.length === 0) {
    const read = await readCatalog(operand ?? '.', asked);
    return [{ read, findings: read.findings }];
  }
  const catalogs: VerifiedCatalog[] = [];
  for (const { destination } of wanted) {
    try {
      const read = await readCatalog(destination, asked);
      catalogs.push({ read, findings: read.findings });
    } catch (error) {
      // What is in its place by now shows in the check of images and of the freshness statement.
      if (!(error instanceof PipelineError) || error.code === 'unreachable') throw error;
      catalogs.push({ read: undefined, findings: [unreadableFinding(destination, error)] });
    }
  }
  return catalogs;
}

/**
 * The images that a catalog in the mirror names, with those in its bundles' manifests where `--bundles` gives these.
 */
async function readCatalog(
  place: string,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<CatalogImages & { readonly findings: readonly Finding[] }> {
  const opened = await openOperand(place, invocation, terminal);
  return catalogImages(opened.source, deployedImages(invocation, terminal)).finally(opened.close);
}

/** The finding for a catalog that the mirror does not give. */
function unreadableFinding(file: string, { message, hint }: PipelineError): Finding {
  return {
    rule: 'mirror/catalog',
    severity: 'error',
    message: `cannot read the catalog in the mirror: ${message}`,
    location: { file, line: 1, column: 1 },
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Images at a time: as many as a client sends requests to one host by default. */
const PARALLEL = 48;

/** Whether each image of a mapping is in the mirror, as the registries answer; and findings about lines that name none. */
async function askRegistries(
  mappings: readonly MappingLine[],
  invocation: Invocation,
  terminal: Terminal,
): Promise<{ readonly found: readonly Presence[]; readonly findings: readonly Finding[] }> {
  return withRegistryClient(invocation, terminal, { hosts: destinationHosts(mappings) }, async (client) => {
    const { jobs, findings } = await copyJobs(mappings, client);
    for (const finding of findings) terminal.err(findingText(finding));
    const sources = invocation.flag('sources');
    return { found: await lookOnline(jobs, client, { parallel: PARALLEL, sources, blobs: true }), findings };
  });
}

/**
 * How fresh the mirror is: of the statement beside each index image, or with only the documents at hand, of that beside
 * them. Nothing without `--key`.
 */
async function freshnessOf(
  { mappings, mappingFile }: Given,
  invocation: Invocation,
  terminal: Terminal,
): Promise<FreshnessReport[]> {
  const beside = statementIn(dirname(mappingFile));
  if (!checksFreshness(invocation)) {
    if (beside) terminal.err(uncheckedNote(beside));
    return [];
  }
  return withRegistryClient(invocation, terminal, { hosts: destinationHosts(mappings) }, async (client) => {
    const { jobs } = await copyJobs(mappings, client);
    const names = namesOf(jobs);
    if (!invocation.flag('online')) {
      const expected = join(dirname(mappingFile), FRESHNESS);
      const digestsOf = async (some: Iterable<string>) => plannedDigests(jobs, new Set(some));
      const state = { found: beside, expected, names, digestsOf, isOffline: true };
      return [await checkFreshness(state, { invocation, terminal })];
    }
    const reports: FreshnessReport[] = [];
    const planned = plannedIndexes(mappingFile).map(({ destination }) => destination);
    const indexes = indexesIn(jobs, planned);
    for (const statement of await statementsIn(client, indexes)) {
      const digestsOf = (some: Iterable<string>) => digestsIn(client, some);
      reports.push(await checkFreshness({ ...statement, names, digestsOf }, { invocation, terminal }));
    }
    return reports;
  });
}

type StatementBeside = Pick<CheckedState, 'found' | 'expected' | 'beside'>;

/** The statements beside index images, each once, with the names of these images. */
async function statementsIn(registry: Registry, indexes: readonly Reference[]): Promise<StatementBeside[]> {
  const statements = new Map<string, StatementBeside>();
  for (const index of indexes) {
    const found = await statementBeside(index, registry);
    const expected = formatReference(statementTag(index));
    // Index images that were signed together have the same statement; where one has none, that is said of it alone.
    const key = found?.bytes.toString() ?? expected;
    const { beside = [], ...first } = statements.get(key) ?? { found, expected };
    statements.set(key, { ...first, beside: [...beside, formatReference(index)] });
  }
  return [...statements.values()];
}

/** Where the mapping puts the index images of its plan. @throws PipelineError `usage` if it copies none of them */
function indexesIn(jobs: readonly CopyJob[], indexes: readonly string[]): Reference[] {
  const found = jobs.flatMap(({ destination, to }) => (indexes.includes(destination) ? [to] : []));
  if (found.length > 0) return found;
  throw new PipelineError('usage', 'the mapping copies none of the index images of its plan');
}

/** The digests that the mapping copies; tags may name anything. */
function plannedDigests(jobs: readonly CopyJob[], names: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map(
    jobs.flatMap(({ from, to }) => {
      const name = formatReference(to);
      return from?.kind === 'digest' && names.has(name) ? [[name, from.digest]] : [];
    }),
  );
}

/** Findings about image policies beside mirror sets: older nodes refuse both, newer ones merge them. */
function mixedPolicies(objects: readonly ReadObject[]): Finding[] {
  const policy = objects.find(({ kind }) => kind === 'ImageContentSourcePolicy');
  if (!policy || mirrorKinds(objects).size === 1) return [];
  return [
    {
      rule: 'mirror/mixture',
      severity: 'warning',
      message: `ImageContentSourcePolicy "${policy.name}" is used together with mirror sets: nodes up to OpenShift 4.13 reject this combination`,
      location: policy.document.locate(policy.path),
      hint: 'use portolan mirror migrate to convert the policy to a mirror set',
    },
  ];
}
