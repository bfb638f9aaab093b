import { dirname, join, resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import { type MappingsRead, readMapping } from '../../../catalog/mirror/mapping.ts';
import { readReport } from '../../../catalog/mirror/report.ts';
import { shellWord } from '../../../catalog/names.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { archivedPlan, checkPlanIn, MAPPING, unpackPlan } from '../../mirror/archive/plan.ts';
import { type CopyReport, copyImages } from '../../mirror/copy.ts';
import { copyJobs, destinationHosts } from '../../mirror/copy-jobs.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import { systemClock } from '../../oci/registry/http/retry.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText, linesText, plainText } from '../../text.ts';
import { type Command, countOption, type Invocation, usageError } from '../command.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { carriedStatement } from './carried-statement.ts';
import {
  copyLines,
  copyProgress,
  DISTANT_CONCURRENCY,
  elsewhereLine,
  failureLines,
  PACE_OPTIONS,
  PARALLEL,
  requestsOf,
} from './copy-output.ts';
import { ARCHIVE_OPTIONS, checkArchiveOptions, folderOf, openWay } from './copy-route.ts';
import { CHECKING_OPTIONS, checksFreshness, plannedIndexes } from './freshness.ts';
import {
  collectArrivals,
  SIGNING_OPTIONS,
  type SignedReport,
  type Signing,
  signedLine,
  signingOf,
  signState,
} from './freshness-sign.ts';

export const command: Command = {
  words: 'mirror copy',
  operands: '[MAPPING]',
  options: {
    ...ARCHIVE_OPTIONS,
    'archive-size': {
      value: 'BYTES',
      description: 'maximum size of each archive file, for example 4GiB (default: 8GiB)',
    },
    'from-archive': {
      value: 'DIR',
      description: 'copy the images of this archive to the mirror; MAPPING defaults to that of the archive',
      multiple: true,
    },
    out: {
      short: 'o',
      value: 'DIR',
      description: 'with --from-archive: directory for the manifests in the archive (default: mirror)',
    },
    to: {
      value: 'REGISTRY[/PATH]',
      description: "registry to use instead of oc-mirror's local registry, localhost:PORT",
    },
    ...PACE_OPTIONS,
    'check-lists': {
      description:
        'check that the mirror has all platforms of existing manifest lists, after platforms were added',
    },
    'no-signatures': { description: 'do not copy signatures and other referrers' },
    ...SIGNING_OPTIONS,
    ...CHECKING_OPTIONS,
    'allow-older': {
      description: 'load an archive although the mirror has a newer freshness statement',
    },
    state: {
      value: 'FILE',
      description: 'file to record progress in, to resume after an interruption (default: MAPPING.state)',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'MAPPING is the mapping.txt of mirror plan, oc adm catalog mirror or a dry run of oc-mirror. Digests do not change, and',
    'manifest lists are copied completely, or with the platforms that the mapping names. Existing content is not uploaded',
    'again: run the command again to resume an interrupted copy. An archive consists of a tar file in parts (an OCI image',
    'layout when unpacked), a receipt and the mapping. Portolan verifies the digest of each manifest and blob that it reads,',
    'at the places that the receipt names; it does not read the headers of the tar file.',
  ].join('\n'),
  examples: [
    'portolan mirror copy mirror/mapping.txt',
    'portolan mirror copy mapping.txt --authfile auth.json',
  ],
  run: async (invocation, terminal) => {
    checkArchiveOptions(command, invocation);
    const format = invocation.text('format') ?? 'text';
    const loaded = planIn(invocation, terminal);
    const mapping = mappingOf(invocation, terminal, loaded);
    const signing = signingFor(mapping, invocation, terminal);
    const concurrency = countOption(command, invocation, 'concurrency');
    const client = registryClientFor(invocation, terminal, {
      hosts: destinationHosts(mapping.mappings, invocation.text('to')),
      concurrency,
      distantConcurrency: concurrency ?? DISTANT_CONCURRENCY,
    });
    try {
      const way = await openWay(invocation, terminal, { client, mapping });
      const read = await copyJobs(mapping.mappings, client, invocation.text('to'));
      // An archive has its images under the names that they get in the mirror.
      const jobs = way.isLoading ? read.jobs.map((job) => ({ ...job, from: job.to })) : read.jobs;
      const wrong = [...mapping.findings, ...read.findings].sort(compareFindings);
      for (const finding of wrong) terminal.err(findingText(finding));
      const carried = loaded
        ? await carriedStatement(jobs, {
            from: way.ports.from,
            files: loaded.files,
            mirror: client,
            invocation,
            terminal,
          })
        : undefined;
      if (carried?.isRefused) return 1;
      const progress = copyProgress(terminal);
      const { images, arrived } = collectArrivals();
      const report = await copyImages(
        {
          ...way.ports,
          clock: systemClock,
          progress: progress.tell,
          elsewhere: (sources) => terminal.err(`${elsewhereLine(sources)}\n`),
        },
        {
          jobs,
          parallel: countOption(command, invocation, 'parallel') ?? PARALLEL,
          companions: !invocation.flag('no-signatures'),
          checksLists: invocation.flag('check-lists'),
          arrived,
        },
      ).finally(async () => {
        progress.end();
        // Closed first, so that a copy that failed can be gone on with; then completed.
        await way.close();
      });
      const archive = await way.finish();
      // A statement vouches for every image, so it comes last, and only beside all of them.
      if (report.failed.length === 0) await carried?.put();
      const documents = loaded && writeDocuments(loaded, report, invocation, terminal);
      const signed =
        signing &&
        (await signState(
          signing,
          { jobs, indexes: signing.indexes, images, folder: dirname(mapping.path), registry: client },
          { invocation, terminal },
        ));
      await print({ ...report, ...archive, ...(signed && { signed }), ...documents }, format, {
        terminal,
        client,
      });
      return wrong.length + report.failed.length > 0 ? 1 : 0;
    } finally {
      client.close();
    }
  },
};

interface Mapping extends MappingsRead {
  readonly path: string;
  /** The whole file: an archive gets a copy. */
  readonly text: string;
}

/** The mapping that was named, or that of the last archive. @throws PipelineError `corrupt` */
function mappingOf(
  { operands, list }: Invocation,
  { directory }: Terminal,
  loaded: LoadedPlan | undefined,
): Mapping {
  const archive = list('from-archive').at(-1);
  const [operand = archive === undefined ? undefined : join(archive, MAPPING)] = operands;
  if (operand === undefined) throw usageError(command, 'missing argument: MAPPING');
  const path = resolve(directory, operand);
  const text = loaded ? mappingBeside(loaded, path) : readText(path);
  return { path, text, ...readMapping(text, operand) };
}

/** The text of the mapping at a path: that of the archive as its receipt confirms it, or that of another plan. */
function mappingBeside({ archive, files }: LoadedPlan, path: string): string {
  if (path !== join(archive, MAPPING)) {
    checkPlanIn(dirname(path));
    return readText(path);
  }
  const bytes = files.get(MAPPING);
  if (bytes) return new TextDecoder().decode(bytes);
  throw new PipelineError('corrupt', `${path} is missing, or the receipt of the archive has no digest of it`);
}

/**
 * The key that signs the copied state, and the index images that the statement is about; undefined if nothing is signed.
 */
function signingFor(
  { path }: Mapping,
  invocation: Invocation,
  terminal: Terminal,
): (Signing & { readonly indexes: readonly string[] }) | undefined {
  const isLoading = invocation.list('from-archive').length > 0;
  const signing = signingOf(command, invocation, terminal);
  if (signing && isLoading)
    throw usageError(command, '--sign-key and --from-archive cannot be used together');
  if (checksFreshness(invocation) && !isLoading)
    throw usageError(command, '--key needs --from-archive: use mirror verify to check a mirror');
  if (invocation.text('out') !== undefined && !isLoading)
    throw usageError(command, '--out needs --from-archive');
  if (invocation.flag('allow-older') && !isLoading)
    throw usageError(command, '--allow-older needs --from-archive');
  return signing && { ...signing, indexes: plannedIndexes(path).map(({ destination }) => destination) };
}

interface LoadedPlan {
  /** Folder of the archive. */
  readonly archive: string;
  /** The files of the plan by name, as the receipt confirms them; from an archive without digests only the mapping. */
  readonly files: ReturnType<typeof archivedPlan>;
}

/** The plan in the last archive; undefined where none is loaded. @throws PipelineError `corrupt`, `not-found` */
function planIn({ list }: Invocation, { directory }: Terminal): LoadedPlan | undefined {
  const last = list('from-archive').at(-1);
  if (last === undefined) return undefined;
  const archive = folderOf(resolve(directory, last));
  return { archive, files: archivedPlan(archive) };
}

/** The report of `mirror plan` in an archive. */
const REPORT = 'report.json';

/**
 * Writes the manifests of an archive, if the index images that they name are in the mirror: clusters that apply them look for
 * these. Gives nothing where none are written.
 */
function writeDocuments(
  { archive, files }: LoadedPlan,
  { failed }: CopyReport,
  invocation: Invocation,
  { directory }: Terminal,
): { readonly documents?: string } {
  if (!files.has(REPORT)) return {};
  const indexes = readReport(new TextDecoder().decode(files.get(REPORT)))?.catalogs ?? [];
  if (failed.some(({ destination }) => indexes.some((index) => index.destination === destination))) return {};
  const out = invocation.text('out') ?? 'mirror';
  unpackPlan(resolve(directory, out), archive, files);
  return { documents: out };
}

/** Prints the report of a copy. */
async function print(
  report: CopyReport & { archive?: number; signed?: SignedReport; documents?: string },
  format: string,
  { terminal, client }: { readonly terminal: Terminal; readonly client: RegistryClient },
): Promise<void> {
  const requests = requestsOf(client);
  if (format === 'json') {
    await terminal.out(`${JSON.stringify({ ...report, requests }, null, 2)}\n`);
    return;
  }
  for (const line of failureLines(report)) terminal.err(`${line}\n`);
  const { signed, documents } = report;
  await terminal.out(
    linesText([
      ...copyLines(report, requests),
      ...(signed ? [signedLine(signed)] : []),
      ...(documents === undefined
        ? []
        : [`to configure the clusters: oc apply -k ${shellWord(plainText(documents))}`]),
    ]),
  );
}
