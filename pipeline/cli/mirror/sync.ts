import { resolve } from 'node:path';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { PLAN_FILES, planFiles } from '../../../catalog/mirror/files.ts';
import type { GroupReadiness } from '../../../catalog/mirror/image-group.ts';
import { readMapping } from '../../../catalog/mirror/mapping.ts';
import { mappingsOf } from '../../../catalog/mirror/plan.ts';
import {
  type Installable,
  installableLines,
  isInstallable,
  type MirrorReport,
  reachedReadiness,
} from '../../../catalog/mirror/report.ts';
import { takesAll } from '../../../catalog/mirror/select/image-set-filter.ts';
import { shellWord } from '../../../catalog/names.ts';
import type { GraphDocument } from '../../../catalog/olm/graph/graph-document.ts';
import { type CopyReport, copyImages } from '../../mirror/copy.ts';
import { copyJobs, destinationHosts } from '../../mirror/copy-jobs.ts';
import { type MirrorOutcome, prepareImageSet } from '../../mirror/prepare.ts';
import { systemClock } from '../../oci/registry/http/retry.ts';
import type { Terminal } from '../../terminal.ts';
import { amount, findingText, linesText, plain } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, countOption, type Invocation, usageError } from '../command.ts';
import { buildSelection } from '../publish/build-selection.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import {
  copyLines,
  copyProgress,
  elsewhereLine,
  FARTHEST,
  failureLines,
  PACE_OPTIONS,
  PARALLEL,
  requestsOf,
} from './copy-output.ts';
import { ARCHIVE_OPTIONS, openWay } from './copy-route.ts';
import { BUNDLES_OPTION, deployedImages, withDeployments } from './deployed-images.ts';
import {
  arrivals,
  SIGNING_OPTIONS,
  type SignedReport,
  signedLine,
  signingOf,
  signState,
} from './freshness-sign.ts';
import { catalogSourceTemplates, openImageSet, writeCharts } from './image-set.ts';
import { DOCUMENT_OPTIONS, documentOptions, NAMING_OPTIONS, namingOptions } from './plan/plan-options.ts';
import { RELEASE_OPTIONS } from './release-options.ts';
import { mirroredGraph, writeStatusPage } from './status-page.ts';
import {
  type Arrived,
  arrivedIn,
  type Pruned,
  pruneSuperseded,
  recordPlan,
  rememberPlan,
} from './sync-steps.ts';

export const command: Command = {
  words: 'mirror sync',
  operands: 'CONFIG',
  options: {
    ...NAMING_OPTIONS,
    out: { short: 'o', value: 'DIR', description: 'directory for the files and the state (default: mirror)' },
    prune: {
      description:
        'delete images that earlier syncs with the same --out copied and no configuration of this mirror needs',
    },
    name: {
      value: 'NAME',
      description: 'name of the configuration in its record in the mirror (default: CONFIG)',
    },
    ...ARCHIVE_OPTIONS,
    'archive-size': {
      value: 'BYTES',
      description: 'maximum size of each archive file (default: archiveSize of CONFIG, or 8GiB)',
    },
    ...SIGNING_OPTIONS,
    ...DOCUMENT_OPTIONS,
    ...RELEASE_OPTIONS,
    'skip-unsupported': {
      description: 'skip parts of CONFIG that Portolan does not support, such as samples',
    },
    'base-image': { value: 'REFERENCE', description: 'opm image to build selections on (default: none)' },
    ...PACE_OPTIONS,
    'no-signatures': { description: 'do not copy signatures and other referrers' },
    'status-page': {
      value: 'FILE',
      description:
        'write a page (HTML) with what is mirrored, what failed, and the upgrades that clusters get',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...BUNDLES_OPTION,
    ...REGISTRY_OPTIONS,
  },
  details: [
    'CONFIG is an ImageSetConfiguration of oc-mirror. Portolan plans the mirror, builds the index image of each selection,',
    'copies all images, checks in the mirror that they are complete, writes the manifests for the clusters, and with',
    '--prune deletes what is no longer needed. Run the same command again to resume after an interruption, and for each',
    'update. A record in the mirror, in PATH/portolan-records, protects what CONFIG needs from the --prune of others, and',
    'refuses a catalog of another configuration. The exit code is 0 if no listed image, and no index image, is missing in the mirror.',
  ].join('\n'),
  examples: [
    'portolan mirror sync imageset-config.yaml --to mirror.example.com/olm && oc apply -k mirror',
    'portolan mirror sync imageset-config.yaml --to mirror.example.com/olm --prune --json > report.json',
  ],
  run: async (invocation, terminal) => {
    if (invocation.text('to-archive') !== undefined && invocation.flag('prune'))
      throw usageError(command, '--prune and --to-archive cannot be used together');
    const planned = await plan(invocation, terminal);
    const { outcome, errors } = planned;
    if (outcome.report.catalogs.length === 0 && invocation.text('sign-key') !== undefined)
      throw usageError(
        command,
        '--sign-key needs a catalog in CONFIG: a freshness statement is about index images',
      );
    for (const finding of [...outcome.findings].sort(compareFindings)) terminal.err(findingText(finding));
    // A catalog that cannot be read whole has images that nobody knows of: nothing is copied.
    if (errors.some(isOfWhole)) return 1;
    const report = await carryOut(planned, invocation, terminal);
    if (invocation.text('format') === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else await terminal.out(linesText(reportLines(report)));
    writePage(planned, report, invocation, terminal);
    const { copy, verified, pruned } = report;
    const isWhole = copy.failed.length + (verified?.missing.length ?? 0) + (pruned?.failed.length ?? 0) === 0;
    return isWhole && errors.length === 0 && isInstallable(report) && report.documents !== undefined ? 0 : 1;
  },
};

/** Writes the page of the mirror where one is asked for. */
function writePage(
  { graph, outcome }: Planned,
  report: SyncReport,
  { text }: Invocation,
  terminal: Terminal,
): void {
  const file = text('status-page');
  if (file === undefined || !graph) return;
  const { failed } = report.copy;
  const missing = report.verified?.missing ?? [];
  const images = [
    ...failed,
    ...missing.filter((one) => !failed.some(({ destination }) => destination === one.destination)),
  ];
  const location = { file: 'mapping.txt', line: 1, column: 1 };
  const findings = images.map(
    ({ destination, why }): Finding => ({
      rule: 'mirror/copy',
      severity: 'error',
      message: `${destination} is not in the mirror: ${why}`,
      location,
    }),
  );
  const page = {
    to: text('to') ?? '',
    graph,
    lines: reportLines(report),
    findings: [...findings, ...outcome.findings],
  };
  writeStatusPage(file, page, terminal);
}

/** Whether an error is about more than single images, charts or releases. */
function isOfWhole({ rule }: Finding): boolean {
  return rule !== 'mirror/reference' && rule !== 'mirror/chart' && rule !== 'mirror/release';
}

interface Planned {
  readonly outcome: MirrorOutcome;
  readonly errors: readonly Finding[];
  readonly options: ReturnType<typeof documentOptions>;
  /** Bytes of each file of an archive, where the configuration says so. */
  readonly part: number | undefined;
  /** Absent where no page is asked for. */
  readonly graph?: GraphDocument | undefined;
}

/** Plans what the configuration selects, with an index image built for each catalog that is selected in part. */
async function plan(invocation: Invocation, terminal: Terminal): Promise<Planned> {
  const [file = ''] = invocation.operands;
  const { imageSet, catalogs, groups, documents, fetched, close } = await openImageSet(
    file,
    invocation,
    terminal,
  );
  try {
    if (imageSet.deletes)
      throw usageError(command, 'a DeleteImageSetConfiguration is for mirror plan and mirror prune');
    const builds = imageSet.catalogs.some((selection) => !takesAll(selection));
    const { directory } = terminal;
    const options = {
      ...documentOptions(command, invocation, { directory, builds }),
      templates: catalogSourceTemplates(imageSet, directory),
      ...documents,
    };
    const request = {
      imageSet,
      catalogs: catalogs.map(({ source, image }) => ({
        source,
        deployed: deployedImages(invocation, terminal),
        digest: image?.digest,
        serverless: image?.hasServer === false,
      })),
      charts: groups,
      ...namingOptions(command, invocation),
      documents: options,
    };
    const { catalogs: known, outcome: first } = await withDeployments(
      request.catalogs,
      (some) => prepareImageSet({ ...request, catalogs: some }),
      { invocation, terminal },
    );
    const errors = first.findings.filter(({ severity }) => severity === 'error');
    const part = imageSet.archiveSize === undefined ? undefined : imageSet.archiveSize * 2 ** 30;
    const isLost = errors.some(isOfWhole);
    if (!isLost) writeCharts(resolve(directory, folderOf(invocation)), { fetched });
    const graph = isLost ? undefined : await mirroredGraph(first, catalogs, invocation);
    if (!builds || isLost) return { outcome: first, errors, options, part, graph };
    const built = [];
    for (const [i, blobs] of first.selections.entries()) {
      const place = `oci:${folderOf(invocation)}/index-images/${i + 1}`;
      const catalog = known[i];
      if (!catalog) continue;
      const { serverless, ...rest } = catalog;
      built.push({
        ...rest,
        ...(blobs ? await buildSelection(blobs, place, { invocation, terminal }) : { serverless }),
      });
    }
    return { outcome: await prepareImageSet({ ...request, catalogs: built }), errors, options, part, graph };
  } finally {
    await close();
  }
}

function folderOf({ text }: Invocation): string {
  return text('out') ?? 'mirror';
}

/** What came of a sync. */
interface SyncReport {
  readonly catalogs: MirrorOutcome['report']['catalogs'];
  readonly copy: CopyReport & { readonly requests: number; readonly archive?: number };
  /** What was looked for in the mirror; absent for an archive. */
  readonly verified?: Arrived;
  readonly ready: MirrorReport['ready'];
  readonly charts?: GroupReadiness;
  readonly releases?: GroupReadiness;
  /** The directory with the manifests; absent when they were not written, as an index image is missing. */
  readonly documents?: string;
  /** The freshness statement; absent without a key, and when the manifests were not written. */
  readonly signed?: SignedReport;
  readonly pruned?: Pruned;
}

/** Copies, then verifies, writes the documents, signs and deletes: each step relies on those before it. */
async function carryOut(
  { outcome, errors, options, part }: Planned,
  invocation: Invocation,
  terminal: Terminal,
): Promise<SyncReport> {
  const folder = resolve(terminal.directory, folderOf(invocation));
  const signing = signingOf(command, invocation, terminal);
  const files = planFiles({ ...outcome, options });
  const text = files.get('mapping.txt') ?? '';
  const path = resolve(folder, 'mapping.txt');
  const { mappings } = readMapping(text, path);
  const concurrency = countOption(command, invocation, 'concurrency');
  const client = registryClientFor(invocation, terminal, {
    hosts: destinationHosts(mappings, undefined),
    concurrency,
    farthest: concurrency ?? FARTHEST,
  });
  try {
    const isArchive = invocation.text('to-archive') !== undefined;
    const records = isArchive
      ? undefined
      : await recordPlan(folder, outcome, { registry: client, invocation, terminal });
    const history = rememberPlan(folder, outcome, text);
    const way = await openWay(invocation, terminal, { client, mapping: { path, text }, part });
    const { jobs, findings } = await copyJobs(mappings, client, undefined);
    for (const finding of findings) terminal.err(findingText(finding));
    const progress = copyProgress(terminal);
    const ports = {
      ...way.ports,
      clock: systemClock,
      progress: progress.tell,
      elsewhere: (sources: readonly string[]) => void terminal.err(`${elsewhereLine(sources)}\n`),
    };
    const { images, arrived } = arrivals();
    const request = {
      parallel: countOption(command, invocation, 'parallel') ?? PARALLEL,
      companions: !invocation.flag('no-signatures'),
      arrived,
    };
    const copy = await copyImages(ports, { ...request, jobs }).finally(async () => {
      progress.end();
      await way.close();
    });
    for (const line of failureLines(copy)) terminal.err(`${line}\n`);
    const verified = isArchive
      ? undefined
      : await arrivedIn(jobs, client, {
          failed: copy.failed,
          complete: async (some) =>
            void (await copyImages(ports, { ...request, jobs: some, checksLists: true })),
        });
    const installable = verified
      ? reachedReadiness(outcome, options.platform, new Set(verified.there))
      : installableOf(outcome.report);
    const indexNames = outcome.report.catalogs.map(({ destination }) => destination);
    const hasIndexes = outcome.plan.catalogs.every(
      (_, i) => verified === undefined || isIndexThere(outcome, i, verified),
    );
    // The documents send clusters to the index images.
    if (hasIndexes) {
      const report = { ...outcome.report, ...installable };
      writeFiles(folder, planFiles({ ...outcome, report, options }), PLAN_FILES);
    }
    const archive = await way.finish();
    const whole = verified && new Set(verified.there);
    const signed =
      signing && hasIndexes
        ? await signState(
            signing,
            { jobs, indexes: indexNames, images, whole, folder, registry: client },
            { invocation, terminal },
          )
        : undefined;
    // A chart that cannot be read may need images that an earlier sync copied.
    const isWhole = errors.length + copy.failed.length + (verified?.missing.length ?? 0) === 0;
    if (isWhole) await records?.settle();
    const pruned = await pruneSuperseded(history, mappingsOf(outcome.plan), {
      client,
      folder,
      records: invocation.flag('prune') && isWhole ? records : undefined,
    });
    return {
      catalogs: outcome.report.catalogs,
      copy: { ...copy, ...archive, requests: requestsOf(client) },
      ...(verified && { verified }),
      ...installable,
      ...(hasIndexes && { documents: folderOf(invocation) }),
      ...(signed && { signed }),
      ...(pruned && { pruned }),
    };
  } finally {
    client.close();
  }
}

function installableOf({ ready, charts, releases }: MirrorReport): Installable {
  return { ready, ...(charts && { charts }), ...(releases && { releases }) };
}

function isIndexThere({ report }: MirrorOutcome, i: number, { there }: Arrived): boolean {
  return there.includes(report.catalogs[i]?.destination ?? '');
}

/** The report of a synchronization as lines of text. */
function reportLines(report: SyncReport): string[] {
  const { catalogs, copy, verified, documents, signed, pruned } = report;
  const missing = verified?.missing ?? [];
  return [
    ...copyLines(copy, copy.requests),
    ...(verified
      ? [`${verified.there.length} of ${amount(verified.images, 'image')} are complete in the mirror`]
      : []),
    ...missing.map(({ destination, why }) => `  ${plain(destination)}: ${plain(why)}`),
    ...prunedLines(pruned),
    ...installableLines(report),
    ...(signed ? [signedLine(signed)] : []),
    ...(documents === undefined
      ? [
          `the manifests are not written: ${amount(catalogs.length, 'index image')} must be in the mirror first`,
        ]
      : [`to configure the clusters: oc apply -k ${shellWord(plain(documents))}`]),
  ];
}

/** What was deleted from the mirror, or may be, as lines of text. */
function prunedLines(pruned: Pruned | undefined): string[] {
  if (!pruned) return [];
  const { superseded, deleted, failed, foreign, needed } = pruned;
  if (deleted === undefined)
    return superseded.length === 0
      ? []
      : [`${amount(superseded.length, 'image')} can be deleted: use --prune once everything is copied`];
  return [
    `${amount(deleted.length, 'image')} deleted from the mirror`,
    ...failed.map(({ image, why }) => `  ${plain(image)} is not deleted: ${plain(why)}`),
    ...foreign.map((image) => `  ${plain(image)} is kept: it is another image now, from somebody else`),
    ...needed.map(({ image, by }) => `  ${plain(image)} is kept: the configuration ${plain(by)} needs it`),
  ];
}
