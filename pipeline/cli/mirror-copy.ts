import { join, resolve } from 'node:path';
import { compareFindings } from '../../catalog/finding.ts';
import { type MappingsRead, readMapping } from '../../catalog/mirror/mapping.ts';
import { readText } from '../directory.ts';
import { type CopyReport, copyImages } from '../mirror/copy.ts';
import { copyJobs, destinationHosts } from '../mirror/jobs.ts';
import type { RegistryClient } from '../registry/client.ts';
import { findingText, plain } from '../report/text.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { bytesText, copyProgress } from './copy-progress.ts';
import { openWay } from './copy-way.ts';
import { countOption } from './number-option.ts';
import { registryClientFor } from './registry-access.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import type { Terminal } from './terminal.ts';

export const command: Command = {
  words: 'mirror copy',
  summary: 'Carry out a mapping.txt: copy the images, with all platforms and signatures.',
  operands: '[MAPPING]',
  options: {
    'to-archive': { value: 'DIR', description: 'write the images into an archive instead of the mirror' },
    since: {
      value: 'DIR',
      description: 'leave out what came with this earlier archive: its directory, or its receipt.json',
    },
    'archive-size': {
      value: 'BYTES',
      description: 'most bytes of a file of the archive, such as 4GiB (default: 8GiB)',
    },
    'from-archive': {
      value: 'DIR',
      description: 'bring the images of an archive into the mirror; MAPPING is that of the archive',
      multiple: true,
    },
    to: {
      value: 'REGISTRY[/PATH]',
      description: "what takes the place of oc-mirror's own registry, localhost:PORT",
    },
    parallel: { value: 'N', description: 'images at a time (default: 192)' },
    concurrency: {
      value: 'N',
      description: 'requests at a time to one host (default: 48, and up to 192 where it is far away)',
    },
    'no-signatures': { description: 'leave signatures and other referrers behind' },
    state: {
      value: 'FILE',
      description: 'what a copy that is cut off remembers (default: MAPPING.state)',
    },
    format: { value: 'text|json', description: 'how to print the result (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Reads what mirror plan, oc adm catalog mirror and the dry run of oc-mirror write. Digests stay as they are, manifest',
    'lists whole. Nothing is sent that is there: a copy that was cut off goes on when it is called again. An archive is a tar',
    'file in parts (unpacked: an OCI image layout), a receipt and the mapping; all of it is checked when it is read.',
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
        { ...way.ports, progress: progress.tell },
        {
          jobs,
          parallel: countOption(command, invocation, 'parallel') ?? PARALLEL,
          companions: !invocation.flag('no-signatures'),
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
  if (operand === undefined) throw usageError(command, 'MAPPING is missing');
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
      `${images} images: ${copied} copied, ${unchanged} were there, ${failed.length} failed`,
      `  sent ${bytesText(bytes)} in ${blobs.uploaded} blobs (${blobs.mounted} mounted, ${blobs.present} were there), ${requests} requests`,
      `  ${companions} signatures and referrers came along`,
      ...(archive === undefined ? [] : [`  the archive has ${bytesText(archive)}`]),
      '',
    ].join('\n'),
  );
}
