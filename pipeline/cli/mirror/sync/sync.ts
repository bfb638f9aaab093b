import { compareFindings, type Finding } from '../../../../catalog/finding.ts';
import { installableLines, isInstallable } from '../../../../catalog/mirror/report.ts';
import { shellWord } from '../../../../catalog/names.ts';
import type { Terminal } from '../../../terminal.ts';
import { amountText, findingText, linesText, plainText } from '../../../text.ts';
import { type Command, type Invocation, usageError } from '../../command.ts';
import { REGISTRY_OPTIONS } from '../../registry-options.ts';
import { copyLines, PACE_OPTIONS } from '../copy-output.ts';
import { ARCHIVE_OPTIONS, checkArchiveOptions } from '../copy-route.ts';
import { BUNDLES_OPTION } from '../deployed-images.ts';
import { SIGNING_OPTIONS, signedLine } from '../freshness-sign.ts';
import { DOCUMENT_OPTIONS, NAMING_OPTIONS } from '../plan/plan-options.ts';
import { RELEASE_OPTIONS } from '../release-options.ts';
import { carryOut, type SyncReport } from './carry-out.ts';
import { isOfWhole, type Planned, planSync } from './plan-sync.ts';
import { writeStatusPage } from './status-page.ts';
import type { Pruned } from './steps.ts';

export const command: Command = {
  words: 'mirror sync',
  operands: 'CONFIG',
  options: {
    ...NAMING_OPTIONS,
    out: { short: 'o', value: 'DIR', description: 'directory for the files and the state (default: mirror)' },
    prune: {
      description:
        'delete images that earlier syncs with the same --out copied or found there and no configuration of this mirror needs',
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
    'copies all images, checks that the mirror has all of their manifests, writes the manifests for the clusters, and with',
    '--prune deletes what is no longer needed. Run the same command again to resume after an interruption, and for each',
    'update. A record in the mirror, in PATH/portolan-records, protects what CONFIG needs from the --prune of others, and',
    'refuses a catalog of another configuration. The exit code is 0 if no listed image, and no index image, is missing in the mirror.',
  ].join('\n'),
  examples: [
    'portolan mirror sync imageset-config.yaml --to mirror.example.com/olm && oc apply -k mirror',
    'portolan mirror sync imageset-config.yaml --to mirror.example.com/olm --prune --json > report.json',
  ],
  run: async (invocation, terminal) => {
    checkArchiveOptions(command, invocation);
    const run = { command, invocation, terminal };
    const planned = await planSync(run);
    const { outcome, errors } = planned;
    if (outcome.report.catalogs.length === 0 && invocation.text('sign-key') !== undefined)
      throw usageError(
        command,
        '--sign-key needs a catalog in CONFIG: a freshness statement is about index images',
      );
    for (const finding of [...outcome.findings].sort(compareFindings)) terminal.err(findingText(finding));
    // A catalog that cannot be read whole has images that nobody knows of: nothing is copied.
    if (errors.some(isOfWhole)) return 1;
    const report = await carryOut(planned, run);
    if (invocation.text('format') === 'json') await terminal.out(`${JSON.stringify(report, null, 2)}\n`);
    else await terminal.out(linesText(reportLines(report)));
    writePage(planned, report, invocation, terminal);
    const { copy, verified, pruned } = report;
    const isWhole = copy.failed.length + (verified?.missing.length ?? 0) + (pruned?.failed.length ?? 0) === 0;
    return isWhole && errors.length === 0 && isInstallable(report) && report.documents !== undefined ? 0 : 1;
  },
};

/** Writes the page of the mirror where one is asked for. An image that failed and is missing is one finding. */
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

/** The report of a synchronization as lines of text. */
function reportLines(report: SyncReport): string[] {
  const { catalogs, copy, verified, documents, signed, pruned } = report;
  const missing = verified?.missing ?? [];
  return [
    ...copyLines(copy, copy.requests),
    ...(verified
      ? [`${verified.there.length} of ${amountText(verified.images, 'image')} are complete in the mirror`]
      : []),
    ...missing.map(({ destination, why }) => `  ${plainText(destination)}: ${plainText(why)}`),
    ...prunedLines(pruned),
    ...installableLines(report),
    ...(signed ? [signedLine(signed)] : []),
    ...(documents === undefined
      ? [
          `the manifests are not written: ${amountText(catalogs.length, 'index image')} must be in the mirror first`,
        ]
      : [`to configure the clusters: oc apply -k ${shellWord(plainText(documents))}`]),
  ];
}

/** What was deleted from the mirror, or may be, as lines of text. */
function prunedLines(pruned: Pruned | undefined): string[] {
  if (!pruned) return [];
  const { superseded, deleted, failed, foreign, needed } = pruned;
  if (deleted === undefined)
    return superseded.length === 0
      ? []
      : [`${amountText(superseded.length, 'image')} can be deleted: use --prune once everything is copied`];
  return [
    `${amountText(deleted.length, 'image')} deleted from the mirror`,
    ...failed.map(({ image, why }) => `  ${plainText(image)} is not deleted: ${plainText(why)}`),
    ...foreign.map((image) => `  ${plainText(image)} is kept: it is another image now, from somebody else`),
    ...needed.map(
      ({ image, by }) => `  ${plainText(image)} is kept: the configuration ${plainText(by)} needs it`,
    ),
  ];
}
