import { resolve } from 'node:path';
import { isDirectory, readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { authorizationHeader } from '../../git/process.ts';
import { openRepository } from '../../git/repository.ts';
import type { RegistryClient } from '../../oci/registry/client.ts';
import type { Fence } from '../../ports.ts';
import type { AttestOptions } from '../../publish/attest/attest.ts';
import { EXTRA_STATEMENTS } from '../../publish/attest/extra-statements.ts';
import type { Signer } from '../../publish/attest/signer.ts';
import { type GitFence, gitFence } from '../../publish/fence-git.ts';
import { recordFence } from '../../publish/fence-records.ts';
import type { Published, PublishPorts } from '../../publish/plan.ts';
import { publishCatalog } from '../../publish/publish.ts';
import { directoryRecords } from '../../publish/records/directory.ts';
import { inRings, recordRings, textRings } from '../../publish/rings/store.ts';
import { type ExitCode, searchPath, type Terminal } from '../../terminal.ts';
import { amountText, findingText, plainText } from '../../text.ts';
import { type Command, type Invocation, isGiven, usageError } from '../command.ts';
import { ownStore } from '../own-store.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { publishLocally } from './local.ts';

export const command: Command = {
  words: 'publish',
  operands: '',
  options: {
    repo: { value: 'DIR', description: 'path of the repository (default: current directory)' },
    commit: { value: 'COMMIT', description: 'commit to publish; the policy is read from it (default: HEAD)' },
    catalog: { value: 'NAME', description: 'catalog to publish, for example v4.20' },
    to: {
      value: 'REFERENCE|oci:DIR',
      description: "where to push the image (default: the policy's publish.catalogs)",
    },
    also: {
      value: 'REFERENCE',
      description: 'additional tag or location for the same image',
      multiple: true,
    },
    slim: {
      value: 'REFERENCE',
      description: 'where to push a second image for OLM v1 only, without server and cache',
    },
    untagged: { description: 'do not move a tag: push the image by digest only' },
    as: { value: 'REFERENCE', description: 'reference of the image on clusters, if --to is a directory' },
    'base-image': { value: 'REFERENCE', description: 'opm image to build on (default: that of the policy)' },
    'mirror-to': {
      value: 'REGISTRY[/PATH]',
      description: 'write the mirror mapping and manifests for this registry',
    },
    out: {
      short: 'o',
      value: 'DIR',
      description: 'directory for the receipt and the mirror files (default: publish)',
    },
    cache: { value: 'json|none', description: 'opm cache to include in the image (default: json)' },
    compression: { value: 'gzip|zstd', description: 'compression of the layers (default: gzip)' },
    label: { value: 'KEY=VALUE', description: 'label to add to the image', multiple: true },
    memory: {
      value: 'DIR',
      description: 'cache build results in this directory, to rebuild only what changed',
    },
    fence: {
      value: 'repo|none|URL|DIR',
      description:
        'where to record the newest published commit (default: repo, a ref in the repository itself)',
    },
    'take-over': {
      description: 'move a tag even if its image does not say which commit it was published from',
    },
    epoch: {
      value: 'N',
      description: 'publish a rewritten history; must be higher than the epoch in the fence',
    },
    sbom: { description: 'attach a CycloneDX SBOM to the image' },
    provenance: { description: 'attach SLSA provenance to the image' },
    ...Object.fromEntries(EXTRA_STATEMENTS.map(({ asked, summary }) => [asked, { description: summary }])),
    'sign-key': { value: 'FILE', description: 'private key (PEM) to sign the provenance with' },
    keyless: { description: 'sign the provenance with the OIDC identity of the CI job' },
    source: { value: 'URL', description: 'repository URL for the provenance' },
    local: {
      value: 'DIR',
      description: 'publish every catalog in the policy to a registry in this directory',
    },
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Reads git objects only. Does not publish a catalog that has errors. Publishing the same commit again produces the same',
    'digest and uploads nothing. The tag moves last: until then it points to the previous image.',
    '',
    'The tag never moves backwards. A fence (the ref refs/portolan/<catalog>/<place>) records the newest published commit;',
    'publishing an older commit succeeds without changing anything. The published image names its commit, too: a new clone',
    'reads it there. Portolan does not move a tag whose image names no commit, unless the fence knows the tag or you add',
    '--take-over. Use --fence URL for a git repository that several publishers share (token: PORTOLAN_GIT_TOKEN), and --fence',
    'DIR for publishers on one machine. With --fence none nothing is compared: an older commit moves the tag back.',
    '',
    'With --local, Portolan runs the same steps as its AWS functions, without a cloud. It pushes to DIR/registry, which',
    'portolan registry can serve, and writes the mirror files to DIR/documents. Use portolan status DIR to see the result.',
  ].join('\n'),
  examples: [
    'portolan publish --catalog v4.20 --to quay.io/acme/catalog:v4.20 --mirror-to mirror.example.com/olm --out publish',
    'portolan publish --repo ../catalogs --commit main --catalog v4.20 --to oci:images --out publish',
  ],
  run: async (invocation, terminal) => {
    const format = invocation.text('format') ?? 'text';
    const directory = resolve(terminal.directory, invocation.text('repo') ?? '.');
    if (invocation.text('local') !== undefined) {
      refuseUnused(invocation);
      return publishLocally(invocation, terminal);
    }
    const repository = await openRepository(directory, searchPath(terminal));
    const fence = openFence(invocation, terminal, directory);
    // A fence that no other publisher shares does not know what they published: then the image's own commit counts, too.
    const ownFence = isRemote(invocation.text('fence') ?? '')
      ? undefined
      : { takeOver: invocation.flag('take-over') };
    const client = registryClientFor(invocation, terminal, {
      named: [...['to', 'slim', 'base-image'].map(invocation.text), ...invocation.list('also')],
    });
    try {
      const out = resolve(terminal.directory, invocation.text('out') ?? 'publish');
      const progress = (step: string): void => terminal.err(`${plainText(step)}\n`);
      const published = await publishCatalog(
        { repository, registry: client, fence, ownFence, progress, inRings: fence?.inRings },
        { ...(await choicesOf(invocation, terminal)), attest: attestOf(invocation, terminal), out },
      );
      return await (format === 'json' ? printJson : printText)(published, { terminal, client, out });
    } finally {
      client.close();
      await fence?.close();
      await repository.close();
    }
  },
};

/** Options that --local takes; the policy has the rest. */
const LOCAL = new Set(['repo', 'commit', 'local', 'format', 'base-image', ...Object.keys(REGISTRY_OPTIONS)]);

/**
 * Refuses options that a local publish ignores.
 *
 * @throws PipelineError `usage` for an option that has no effect with --local
 */
function refuseUnused(invocation: Invocation): void {
  const unused = Object.keys(command.options).find((name) => !LOCAL.has(name) && isGiven(invocation, name));
  if (unused !== undefined)
    throw usageError(command, `--${unused} has no effect with --local, which publishes what the policy says`);
}

/** What the options choose in place of the policy, which decides where one is undefined. */
async function choicesOf(invocation: Invocation, terminal: Terminal) {
  const { text, needed, list, flag } = invocation;
  const { directory, now } = terminal;
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
    store:
      memory === undefined ? undefined : await ownStore(resolve(directory, memory), searchPath(terminal)),
  };
}

/** What is attested with the image; undefined for nothing. @throws PipelineError `usage` */
function attestOf({ flag, text }: Invocation, { directory }: Terminal): AttestOptions | undefined {
  const file = text('sign-key');
  if (file !== undefined && flag('keyless'))
    throw usageError(command, '--sign-key and --keyless cannot be used together');
  const signer: Signer | undefined =
    file === undefined ? undefined : { kind: 'key', key: readText(resolve(directory, file)) };
  const signs = signer ?? (flag('keyless') ? ({ kind: 'keyless' } as const) : undefined);
  const provenance = flag('provenance') || signs !== undefined;
  const statements = EXTRA_STATEMENTS.map(({ asked }) => asked).filter(flag);
  if (statements.length > 0 && !signs)
    throw usageError(command, `--${statements[0]} needs a signature: add --sign-key or --keyless`);
  // Extra statements need a signature, and that makes a provenance: there are none without it.
  if (!flag('sbom') && !provenance) return undefined;
  return {
    sbom: flag('sbom'),
    provenance,
    signer: signs,
    source: text('source'),
    builder: BUILDER,
    statements,
  };
}

/** Who ran the build, for a provenance that a person's machine makes. */
const BUILDER = 'urn:portolan:cli';

/** The key and value of a `--label`. @throws PipelineError `usage` */
function labelOf(text: string): [key: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(command, `--label must be KEY=VALUE, not ${JSON.stringify(text)}`);
}

/** The number of `--epoch`; undefined without it. @throws PipelineError `usage` */
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

/** Prints how a publish ended. @returns the exit code */
async function printText(published: Published, { terminal, client, out }: Printing): Promise<ExitCode> {
  for (const finding of published.findings) terminal.err(findingText(finding));
  if (published.kind === 'refused') {
    terminal.err('FAIL: not published: the catalog has errors; the tag was not moved\n');
    return 1;
  }
  if (published.kind === 'superseded') {
    const { commit, digest } = published.by;
    const what =
      commit === published.commit
        ? `another publisher of commit ${commit} was later, with another base image: it is published as ${digest}`
        : `the newer commit ${commit} is already published as ${digest}`;
    await terminal.out(`nothing to publish: ${what}\n`);
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
      `  uploaded ${push.bytes} bytes${push.unchanged ? ': the image already exists' : ` (${amountText(uploaded, 'blob')}; ${present} already existed, ${mounted} mounted)`}, ${amountText(requests, 'request')}`,
      `  files    ${out}: ${changed.length === 0 ? 'nothing changed' : changed.join(', ')}`,
      '',
    ].join('\n'),
  );
  return 0;
}

/** Prints a publish as JSON. @returns the exit code */
async function printJson(published: Published, { terminal }: Printing): Promise<ExitCode> {
  await terminal.out(`${JSON.stringify(published, null, 2)}\n`);
  return published.kind === 'refused' ? 1 : 0;
}

type OpenFence = Fence & Pick<PublishPorts, 'inRings'> & { close(): Promise<void> };

/**
 * Opens the fence that the options name.
 *
 * @param repository the directory whose own refs are the default
 * @returns undefined for `none`
 * @throws PipelineError `usage`
 */
function openFence({ text }: Invocation, terminal: Terminal, repository: string): OpenFence | undefined {
  const place = text('fence') ?? 'repo';
  if (place === 'none') return undefined;
  const settings = searchPath(terminal);
  if (place === 'repo') return withRings(gitFence({ repository, settings }));
  if (isRemote(place)) {
    const header = authorizationHeader(terminal.environment['PORTOLAN_GIT_TOKEN']);
    return withRings(gitFence({ repository: place, settings, reach: { header } }));
  }
  const records = directoryRecords(fenceFolder(resolve(terminal.directory, place), place));
  const fence = recordFence(records);
  const ringed = inRings(fence, (catalog, name) => recordRings(records, catalog, name));
  return { ...fence, inRings: ringed, close: async () => undefined };
}

/** The fence with the rings' state, which the same git refs hold. */
function withRings(fence: GitFence): OpenFence {
  return { ...fence, inRings: inRings(fence, (catalog, name) => textRings(fence, catalog, name)) };
}

/** Whether a text is meant as an address: `https://…`, `git@host:path`, and what was misspelled of them. */
function isRemote(place: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9+.-]*:|[^/]+@)/.test(place);
}

/**
 * A fence that nobody else reads guards nothing, so a directory is never made of a word that was misspelled.
 *
 * @throws PipelineError `usage`
 */
function fenceFolder(folder: string, place: string): string {
  if (isDirectory(folder)) return folder;
  const quoted = JSON.stringify(place);
  throw new PipelineError('usage', `cannot use ${quoted} as the fence: there is no such directory`, {
    hint: 'create the directory first, or use --fence repo, --fence none or --fence https://…',
  });
}
