import { resolve } from 'node:path';
import { openRepository } from '../git/repository.ts';
import { directoryStore } from '../image/directory-store.ts';
import type { RegistryClient } from '../registry/client.ts';
import { findingText, plain } from '../report/text.ts';
import { type Published, publish } from '../stages/publish.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { registryClientFor } from './registry-access.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import { type ExitCode, searchPath, type Terminal } from './terminal.ts';

export const command: Command = {
  words: 'publish',
  summary: 'Publish a catalog of a commit: build its index image, push it, write what mirrors need.',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'the repository (default: this directory)' },
    commit: { value: 'REF', description: 'what is published (default: HEAD); its policy counts' },
    catalog: { value: 'NAME', description: 'the catalog, such as v4.20' },
    to: {
      value: 'REFERENCE|oci:DIR',
      description: "where the image goes (default: the policy's publish.catalogs)",
    },
    as: { value: 'REFERENCE', description: 'what clusters call the image, when --to is a directory' },
    'base-image': { value: 'REFERENCE', description: 'image of opm to build on (default: nothing)' },
    'mirror-to': { value: 'REGISTRY[/PATH]', description: "write the mirror's documents for this registry" },
    out: { short: 'o', value: 'DIR', description: 'where the receipt and documents go (default: publish)' },
    cache: { value: 'DIR', description: 'remember what was built, so that only what changed is built again' },
    format: { value: 'text|json', description: 'how to print what was published (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Reads git objects only. A catalog with errors is not published. The same commit gives the same digest, and nothing',
    'is sent that is there. The tag moves last: until then it names what it named before.',
  ].join('\n'),
  examples: [
    'portolan publish --catalog v4.20 --to quay.io/acme/catalog:v4.20 --mirror-to mirror.example.com/olm --out publish',
    'portolan publish --repo ../catalogs --commit main --catalog v4.20 --to oci:images --out publish',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    if (format !== 'text' && format !== 'json') throw usageError(command, '--format must be text or json');
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    const repository = await openRepository(directory, searchPath(terminal));
    const client = registryClientFor(invocation, terminal, {
      named: [invocation.text('to'), invocation.text('base-image')],
    });
    try {
      const out = resolve(terminal.directory, invocation.text('out') ?? 'publish');
      const progress = (step: string): void => terminal.err(`${plain(step)}\n`);
      const published = await publish(
        { repository, registry: client, progress },
        { ...choicesOf(invocation, terminal), out },
      );
      return await (format === 'json' ? printJson : printText)(published, { terminal, client, out });
    } finally {
      client.close();
      await repository.close();
    }
  },
};

function choicesOf({ text, needed }: Invocation, { directory, now }: Terminal) {
  const cache = text('cache');
  return {
    commit: text('commit') ?? 'HEAD',
    catalog: needed('catalog'),
    to: text('to'),
    as: text('as'),
    base: text('base-image'),
    mirrorTo: text('mirror-to'),
    today: now().toISOString().slice(0, 10),
    store: cache === undefined ? undefined : directoryStore(resolve(directory, cache)),
  };
}

interface Printing {
  readonly terminal: Terminal;
  readonly client: RegistryClient;
  readonly out: string;
}

async function printText(published: Published, { terminal, client, out }: Printing): Promise<ExitCode> {
  for (const finding of published.findings) terminal.err(findingText(finding));
  if (published.kind === 'refused') {
    terminal.err('FAIL: the catalog has errors; nothing was published\n');
    return 1;
  }
  const { receipt, push, files } = published;
  const { present, mounted, uploaded } = push.blobs;
  const requests = [...client.traffic().values()].reduce((sum, traffic) => sum + traffic.requests, 0);
  const changed = [...files.written, ...files.removed.map((name) => `-${name}`)];
  await terminal.out(
    [
      `published ${receipt.image}`,
      `  digest   ${receipt.digest}`,
      `  uploaded ${push.bytes} bytes${push.unchanged ? ': this very image was there' : ` (${uploaded} blobs; ${present} were there, ${mounted} mounted)`}, ${requests} requests`,
      `  files    ${out}: ${changed.length === 0 ? 'nothing changed' : changed.join(', ')}`,
      '',
    ].join('\n'),
  );
  return 0;
}

async function printJson(published: Published, { terminal }: Printing): Promise<ExitCode> {
  await terminal.out(`${JSON.stringify(published, null, 2)}\n`);
  return published.kind === 'published' ? 0 : 1;
}
