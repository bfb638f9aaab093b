import { basename, join, resolve } from 'node:path';
import { compareFindings } from '../../catalog/finding.ts';
import type { DocumentOptions } from '../../catalog/mirror/documents.ts';
import { readinessText } from '../../catalog/mirror/report.ts';
import type { Scope } from '../../catalog/mirror/scope.ts';
import { parseChoice } from '../../catalog/mirror/select.ts';
import { STYLES, type Style } from '../../catalog/mirror/style.ts';
import { formatReference } from '../../catalog/reference.ts';
import { renderJson, renderOrder } from '../../catalog/render.ts';
import { findingText, plain } from '../report/text.ts';
import type { OpenCatalog } from '../source/open.ts';
import { type MirrorOutcome, type MirrorRequest, prepareMirror, writePlan } from '../stages/mirror.ts';
import { writeFiles } from '../write.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { numberOption } from './number-option.ts';
import { openOperand } from './operands.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';
import type { ExitCode, Terminal } from './terminal.ts';

export const command: Command = {
  words: 'mirror plan',
  summary: 'Write what a disconnected cluster needs: mapping.txt, mirror sets, catalog sources.',
  operands: 'DIR|IMAGE',
  options: {
    as: {
      value: 'REFERENCE',
      description:
        'what the index image of the catalog is called (default: the image itself; of a directory localhost/catalog:DIR)',
    },
    digest: {
      value: 'DIGEST',
      description: "the index image's digest: pins its copy and the catalog source (default: that of IMAGE)",
    },
    to: { value: 'REGISTRY[/PATH]', description: 'where the mirror is; file://PATH with --style oc' },
    out: { short: 'o', value: 'DIR', description: 'where the files are written (default: mirror)' },
    style: { value: STYLES.join('|'), description: 'whose names the mirror follows (default: nested)' },
    'max-components': { value: 'N', description: 'most parts of a path in the mirror; 0 for no limit' },
    scope: {
      value: 'SCOPE',
      description: 'repository, namespace or registry: how wide a mirror entry reaches',
    },
    'icsp-scope': { value: 'SCOPE', description: 'the same for ImageContentSourcePolicy alone' },
    'idms-scope': { value: 'SCOPE', description: 'another word for --scope' },
    'max-icsp-size': { value: 'BYTES', description: 'most bytes of an ImageContentSourcePolicy' },
    'max-idms-size': { value: 'BYTES', description: 'most bytes of a mirror set' },
    'never-contact-source': { description: 'nodes ask the mirror only' },
    platform: { value: '4.N', description: "the clusters' OpenShift version (default: a current one)" },
    name: { value: 'NAME', description: 'name of the catalog on clusters' },
    'display-name': { value: 'TEXT', description: 'what the console shows' },
    publisher: { value: 'TEXT', description: 'who publishes the catalog' },
    poll: { value: 'DURATION', description: 'let clusters look for a new index image so often, such as 30m' },
    secret: { value: 'NAME', description: "pull secret in the catalog source's namespace", multiple: true },
    priority: { value: 'N', description: 'priority of the catalog among others' },
    only: { value: 'PACKAGE[@CHANNEL|RANGE]', description: 'mirror this and what it needs', multiple: true },
    format: { value: 'text|json', description: 'print the report as JSON (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details:
    'IMAGE is a reference, oci:DIR, oci-archive:FILE or docker-archive:FILE. Images are copied by what carries out mapping.txt: portolan mirror copy, or oc image mirror --keep-manifest-list=true -f mapping.txt. The other files are applied to clusters with oc apply -k.',
  examples: [
    'portolan mirror plan catalogs/v4.20 --as quay.io/acme/catalog:v4.20 --to mirror.example.com/olm',
    'portolan mirror plan quay.io/acme/catalog:v4.20 --to mirror.example.com --only etcd@stable',
  ],
  run: async (invocation, terminal) => {
    const [operand = '.'] = invocation.operands;
    const opened = await openOperand(operand, invocation, terminal);
    try {
      return await planFor(opened, invocation, terminal);
    } finally {
      await opened.close();
    }
  },
};

async function planFor(opened: OpenCatalog, invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const reference = invocation.text('as') ?? referenceOf(opened) ?? unnamed(opened, terminal);
  const request = requestOf(invocation, opened, reference);
  const outcome = await prepareMirror(request);
  for (const finding of [...outcome.findings].sort(compareFindings)) terminal.err(findingText(finding));
  const errors = outcome.findings.filter(({ severity }) => severity === 'error');
  // A catalog that cannot be read whole has images that nobody knows of: no plan at all.
  if (errors.some(({ rule }) => rule !== 'mirror/reference')) return 1;
  const out = resolve(terminal.directory, invocation.text('out') ?? 'mirror');
  const { written, removed } = writePlan(out, outcome, request.documents);
  writeSelections(out, outcome);
  for (const { package: name, bundle, why } of outcome.kept) {
    terminal.err(`kept ${plain(`${name}/${bundle}`)}: ${plain(why)}\n`);
  }
  if (invocation.text('format') === 'json')
    await terminal.out(`${JSON.stringify(outcome.report, null, 2)}\n`);
  else await terminal.out(plainLines(readinessText(outcome.report.ready)));
  const changed = [...written, ...removed.map((name) => `-${name}`)];
  terminal.err(`${out}: ${changed.length === 0 ? 'nothing changed' : changed.join(', ')}\n`);
  return errors.length > 0 || outcome.report.ready.ready < outcome.report.ready.bundles ? 1 : 0;
}

function requestOf(invocation: Invocation, { source, image }: OpenCatalog, reference: string): MirrorRequest {
  const { text, needed, list, flag } = invocation;
  const scope = scopeOption(invocation, 'scope') ?? scopeOption(invocation, 'idms-scope');
  return {
    catalogs: [
      {
        source,
        reference,
        digest: text('digest') ?? image?.digest,
        name: text('name'),
        choices: list('only').map(parseChoice),
      },
    ],
    to: needed('to'),
    style: styleOption(invocation),
    maxComponents: numberOption(command, invocation, 'max-components'),
    scope,
    policyScope: scopeOption(invocation, 'icsp-scope'),
    documents: documentOptions(invocation, flag('never-contact-source')),
  };
}

/** The reference under which an image was asked for; one in a directory or archive has none that clusters know. */
function referenceOf({ image }: OpenCatalog): string | undefined {
  return image && image.reference.registry !== '' ? formatReference(image.reference) : undefined;
}

/** A name for an index image that has none: its directory's, with what no tag may hold left out. */
function unnamed({ name }: OpenCatalog, { directory, err }: Terminal): string {
  const tag = basename(resolve(directory, name))
    .replaceAll(/^[^\w]+|[^\w.-]/g, '')
    .slice(0, 128);
  const reference = `localhost/catalog:${tag || 'latest'}`;
  err(`the index image is called ${plain(reference)}: --as names the real one\n`);
  return reference;
}

function documentOptions(invocation: Invocation, neverContact: boolean): DocumentOptions {
  const { text, list } = invocation;
  const pollInterval = text('poll');
  const priority = numberOption(command, invocation, 'priority');
  return {
    platform: text('platform'),
    sourcePolicy: neverContact ? 'NeverContactSource' : undefined,
    maxBytes: numberOption(command, invocation, 'max-idms-size'),
    maxPolicyBytes: numberOption(command, invocation, 'max-icsp-size'),
    catalogSource: {
      displayName: text('display-name'),
      publisher: text('publisher'),
      secrets: list('secret'),
      priority,
      pollInterval,
    },
    clusterCatalog: { priority, pollInterval },
  };
}

function styleOption({ text }: Invocation): Style | undefined {
  const style = text('style');
  const known = STYLES.find((one) => one === style);
  if (style === undefined || known) return known;
  throw usageError(command, `--style must be ${STYLES.join(', ')}, not ${JSON.stringify(style)}`);
}

const SCOPES: readonly Scope[] = ['repository', 'namespace', 'registry'];

function scopeOption({ text }: Invocation, option: string): Scope | undefined {
  const scope = text(option);
  const known = SCOPES.find((one) => one === scope);
  if (scope === undefined || known) return known;
  throw usageError(command, `--${option} must be ${SCOPES.join(', ')}, not ${JSON.stringify(scope)}`);
}

/** The selected catalogs beside the plan: their images are to be built from them. */
function writeSelections(out: string, { selections }: MirrorOutcome): void {
  for (const blobs of selections) {
    if (!blobs) continue;
    const text = renderOrder(blobs).map(renderJson).join('');
    writeFiles(join(out, 'catalog'), new Map([['catalog.json', text]]));
  }
}

function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}
