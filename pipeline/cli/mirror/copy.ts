import { join, resolve } from 'node:path';
import { compareFindings } from '../../../catalog/finding.ts';
import { type MappingsRead, readMapping } from '../../../catalog/mirror/mapping.ts';
import { readText } from '../../directory.ts';
import { type CopyReport, copyImages } from '../../mirror/copy.ts';
import { copyJobs, destinationHosts } from '../../mirror/copy-jobs.ts';
import type { ProgressState } from '../../mirror/progress.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import { systemClock } from '../../oci/registry/clock.ts';
import type { Terminal } from '../../terminal.ts';
import { amount, findingText, plain } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { countOption } from '../number-option.ts';
import { progressLine } from '../progress-line.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { openWay } from './copy-route.ts';

export const command: Command = {
  words: 'mirror copy',
  operands: '[MAPPING]',
  options: {
    'to-archive': {
      value: 'DIR',
      description: 'write the images to an archive in this directory instead of the mirror',
    },
    since: {
      value: 'DIR',
      description: 'skip the content of this earlier archive (its directory or its receipt.json)',
    },
    'archive-size': {
      value: 'BYTES',
      description: 'maximum size of each archive file, for example 4GiB (default: 8GiB)',
    },
    'from-archive': {
      value: 'DIR',
      description: 'copy the images of this archive to the mirror; MAPPING defaults to that of the archive',
      multiple: true,
    },
    to: {
      value: 'REGISTRY[/PATH]',
      description: "registry to use instead of oc-mirror's local registry, localhost:PORT",
    },
    parallel: { value: 'N', description: 'number of images to copy at the same time (default: 192)' },
    concurrency: {
      value: 'N',
      description: 'concurrent requests to one host (default: 48, up to 192 for a distant host)',
    },
    'check-lists': {
      description:
        'check that the mirror has all platforms of existing manifest lists, after platforms were added',
    },
    'no-signatures': { description: 'do not copy signatures and other referrers' },
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
    'layout when unpacked), a receipt and the mapping. Portolan verifies all of it when it reads the archive.',
  ].join('\n'),
  examples: [
    'portolan mirror copy mirror/mapping.txt',
    'portolan mirror copy mapping.txt --authfile auth.json',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    const mapping = mappingOf(invocation, terminal);
    const concurrency = countOption(command, invocation, 'concurrency');
    const client = registryClientFor(invocation, terminal, {
      hosts: destinationHosts(mapping.mappings, invocation.text('to')),
      concurrency,
      farthest: concurrency ?? FARTHEST,
    });
    try {
      const way = await openWay(invocation, terminal, { client, mapping });
      const read = await copyJobs(mapping.mappings, client, invocation.text('to'));
      const jobs = way.isLoading ? read.jobs.map((job) => ({ ...job, from: job.to })) : read.jobs;
      const wrong = [...mapping.findings, ...read.findings].sort(compareFindings);
      for (const finding of wrong) terminal.err(findingText(finding));
      const progress = copyProgress(terminal);
      const report = await copyImages(
        { ...way.ports, clock: systemClock, progress: progress.tell },
        {
          jobs,
          parallel: countOption(command, invocation, 'parallel') ?? PARALLEL,
          companions: !invocation.flag('no-signatures'),
          checksLists: invocation.flag('check-lists'),
        },
      ).finally(async () => {
        progress.end();
        await way.close();
      });
      const archive = await way.finish();
      await print({ ...report, ...archive }, format, { terminal, client });
      return wrong.length + report.failed.length > 0 ? 1 : 0;
    } finally {
      client.close();
    }
  },
};

/** Images at a time: most of a copy's time is waiting, for what the registries let through. */
const PARALLEL = 192;
/** Requests at a time to a host that is far away. */
const FARTHEST = 192;

interface Mapping extends MappingsRead {
  readonly path: string;
  readonly text: string;
}

/** The mapping that was named, or that of the last archive. */
function mappingOf({ operands, list }: Invocation, { directory }: Terminal): Mapping {
  const archive = list('from-archive').at(-1);
  const [operand = archive === undefined ? undefined : join(archive, MAPPING)] = operands;
  if (operand === undefined) throw usageError(command, 'missing argument: MAPPING');
  const path = resolve(directory, operand);
  const text = readText(path);
  return { path, text, ...readMapping(text, operand) };
}

/** The mapping in an archive. */
const MAPPING = 'mapping.txt';

interface Printing {
  readonly terminal: Terminal;
  readonly client: RegistryClient;
}

async function print(
  report: CopyReport & { archive?: number },
  format: string,
  { terminal, client }: Printing,
): Promise<void> {
  const traffic = [...client.traffic().values()];
  const requests = traffic.reduce((sum, one) => sum + one.requests, 0);
  if (format === 'json') {
    await terminal.out(`${JSON.stringify({ ...report, requests }, null, 2)}\n`);
    return;
  }
  const { images, copied, unchanged, companions, blobs, bytes, failed, archive } = report;
  for (const { source, destination, why } of failed) {
    terminal.err(`failed ${plain(source)} -> ${plain(destination)}: ${plain(why)}\n`);
  }
  await terminal.out(
    [
      `${amount(images, 'image')}: ${copied} copied, ${unchanged} already existed, ${failed.length} failed`,
      `  uploaded ${bytesText(bytes)} in ${amount(blobs.uploaded, 'blob')} (${blobs.mounted} mounted, ${blobs.present} already existed), ${amount(requests, 'request')}`,
      `  attached artifacts (signatures, SBOMs and others): ${companions} copied`,
      ...(archive === undefined ? [] : [`  archive size: ${bytesText(archive)}`]),
      '',
    ].join('\n'),
  );
}

interface CopyProgress {
  readonly tell: (state: ProgressState) => void;
  /** Leaves the terminal with an empty line. */
  readonly end: () => void;
}

function copyProgress(terminal: Terminal): CopyProgress {
  const { tell, clear } = progressLine(terminal);
  return {
    tell: (state) => tell((milliseconds) => progressText(state, milliseconds)),
    end: clear,
  };
}

/** Such as `120 of 2000 images, 1.5 of 20.0 GB, 35.2 MB/s, 9 min left`. */
function progressText({ images, bytes }: ProgressState, milliseconds: number): string {
  const parts = [`${images.done} of ${amount(images.total, 'image')}`];
  if (bytes.total > 0) {
    const rate = bytes.done / Math.max(0.001, milliseconds / 1000);
    parts.push(`${bytesText(bytes.done)} of ${bytesText(bytes.total)}`, `${bytesText(rate)}/s`);
    if (rate > 0) parts.push(`${timeText((bytes.total - bytes.done) / rate)} left`);
  }
  return parts.join(', ');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes in decimal units. */
function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

function timeText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
