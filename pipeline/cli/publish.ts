import { resolve } from 'node:path';
import type { AttestOptions } from '../attest/attest.ts';
import type { Signer } from '../attest/signer.ts';
import { readText } from '../directory.ts';
import { openRepository } from '../git/repository.ts';
import { directoryStore } from '../image/directory-store.ts';
import type { RegistryClient } from '../registry/client.ts';
import { findingText, plain } from '../report/text.ts';
import { type Published, publish } from '../stages/publish.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { openFence } from './fence.ts';
import { publishLocally } from './publish-local.ts';
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
    also: { value: 'REFERENCE', description: 'a further tag or place of the same image', multiple: true },
    slim: { value: 'REFERENCE', description: 'where the image for OLM v1 alone goes: no server, no cache' },
    untagged: { description: 'move no tag: the image is known by its digest only' },
    as: { value: 'REFERENCE', description: 'what clusters call the image, when --to is a directory' },
    'base-image': { value: 'REFERENCE', description: 'image of opm to build on (default: nothing)' },
    'mirror-to': { value: 'REGISTRY[/PATH]', description: "write the mirror's documents for this registry" },
    out: { short: 'o', value: 'DIR', description: 'where the receipt and documents go (default: publish)' },
    cache: { value: 'json|none', description: "whether the image holds opm's cache (default: json)" },
    compression: { value: 'gzip|zstd', description: 'of the layers (default: gzip)' },
    label: { value: 'KEY=VALUE', description: 'a label of the image', multiple: true },
    memory: {
      value: 'DIR',
      description: 'remember what was built, so that only what changed is built again',
    },
    fence: {
      value: 'repo|none|URL|DIR',
      description:
        'where the newest published commit is kept (default: repo, a ref of the repository itself)',
    },
    epoch: { value: 'N', description: "publish a history that was rewritten: one more than the fence's" },
    sbom: { description: 'put beside the image what is in it, as CycloneDX' },
    provenance: { description: 'put beside the image where it comes from, as SLSA provenance' },
    'sign-key': { value: 'FILE', description: 'private key, PEM, that signs the provenance' },
    keyless: { description: "sign the provenance by the job's OIDC identity" },
    source: { value: 'URL', description: 'the repository, for the provenance' },
    local: {
      value: 'DIR',
      description: 'publish every catalog of the policy into a registry and records in this directory',
    },
    format: { value: 'text|json', description: 'how to print what was published (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Reads git objects only. A catalog with errors is not published. The same commit gives the same digest, and nothing',
    'is sent that is there. The tag moves last: until then it names what it named before.',
    'It never moves back: the fence, refs/portolan/<catalog>/<place> of a git repository, remembers the newest commit,',
    'and an older one ends well with nothing published. A URL names a repository that several publishers share (its',
    'token is PORTOLAN_GIT_TOKEN); a DIR is for those on one machine.',
    'With --local the steps are those of the functions on AWS, with no cloud: DIR/registry (portolan registry serves',
    'it), DIR/documents by catalog, and portolan status DIR.',
  ].join('\n'),
  examples: [
    'portolan publish --catalog v4.20 --to quay.io/acme/catalog:v4.20 --mirror-to mirror.example.com/olm --out publish',
    'portolan publish --repo ../catalogs --commit main --catalog v4.20 --to oci:images --out publish',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    if (invocation.text('local') !== undefined) return publishLocally(invocation, terminal);
    const repository = await openRepository(directory, searchPath(terminal));
    const fence = openFence(invocation, terminal, directory);
    const client = registryClientFor(invocation, terminal, {
      named: [...['to', 'slim', 'base-image'].map(invocation.text), ...invocation.list('also')],
    });
    try {
      const out = resolve(terminal.directory, invocation.text('out') ?? 'publish');
      const progress = (step: string): void => terminal.err(`${plain(step)}\n`);
      const published = await publish(
        { repository, registry: client, fence, progress },
        { ...choicesOf(invocation, terminal), attest: attestOf(invocation, terminal), out },
      );
      return await (format === 'json' ? printJson : printText)(published, { terminal, client, out });
    } finally {
      client.close();
      await fence?.close();
      await repository.close();
    }
  },
};

function choicesOf(invocation: Invocation, { directory, now }: Terminal) {
  const { text, needed, list, flag } = invocation;
  const memory = text('memory');
  return {
    commit: text('commit') ?? 'HEAD',
    catalog: needed('catalog'),
    to: text('to'),
    also: list('also').length === 0 ? undefined : list('also'),
    slim: text('slim'),
    untagged: flag('untagged'),
    cache: invocation.word('cache', ['json', 'none']),
    compression: invocation.word('compression', ['gzip', 'zstd']),
    labels: list('label').length === 0 ? undefined : Object.fromEntries(list('label').map(labelOf)),
    as: text('as'),
    base: text('base-image'),
    mirrorTo: text('mirror-to'),
    epoch: epochOf(text('epoch')),
    today: now().toISOString().slice(0, 10),
    store: memory === undefined ? undefined : directoryStore(resolve(directory, memory)),
  };
}

function attestOf({ flag, text }: Invocation, { directory }: Terminal): AttestOptions | undefined {
  const file = text('sign-key');
  if (file !== undefined && flag('keyless')) throw usageError(command, '--sign-key or --keyless, not both');
  const signer: Signer | undefined =
    file === undefined ? undefined : { kind: 'key', key: readText(resolve(directory, file)) };
  const signs = signer ?? (flag('keyless') ? ({ kind: 'keyless' } as const) : undefined);
  const provenance = flag('provenance') || signs !== undefined;
  if (!flag('sbom') && !provenance) return undefined;
  return { sbom: flag('sbom'), provenance, signer: signs, source: text('source'), builder: BUILDER };
}

/** Who ran the build, for a provenance that a person's machine makes. */
const BUILDER = 'urn:portolan:cli';

function labelOf(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(command, `--label takes KEY=VALUE, not ${JSON.stringify(text)}`);
}

function epochOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw usageError(command, `--epoch must be a number, not ${JSON.stringify(text)}`);
}

interface Printing {
  readonly terminal: Terminal;
  readonly client: RegistryClient;
  readonly out: string;
}

async function printText(published: Published, { terminal, client, out }: Printing): Promise<ExitCode> {
  for (const finding of published.findings) terminal.err(findingText(finding));
  if (published.kind === 'refused') {
    terminal.err('FAIL: merged, not published: the catalog has errors, and the tag stays as it was\n');
    return 1;
  }
  if (published.kind === 'superseded') {
    const { commit, digest } = published.by;
    await terminal.out(`nothing published: the newer commit ${commit} is, as ${digest}\n`);
    return 0;
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
  return published.kind === 'refused' ? 1 : 0;
}
