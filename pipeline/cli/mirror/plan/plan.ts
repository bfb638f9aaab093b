import { basename, join, resolve } from 'node:path';
import { renderJson, renderOrder } from '../../../../catalog/fbc/render.ts';
import { compareFindings } from '../../../../catalog/finding.ts';
import { deleteImagesText } from '../../../../catalog/mirror/diff.ts';
import type { DocumentOptions } from '../../../../catalog/mirror/documents/documents.ts';
import type { DeployedImages } from '../../../../catalog/mirror/images.ts';
import { isPlatform, type Platforms, platformsOf } from '../../../../catalog/mirror/platforms.ts';
import { installableLines, isInstallable, type ReportedCatalog } from '../../../../catalog/mirror/report.ts';
import { parseChoice } from '../../../../catalog/mirror/select/select.ts';
import { shellWord } from '../../../../catalog/names.ts';
import { formatReference } from '../../../../catalog/reference.ts';
import type { OpenCatalog } from '../../../catalogs/source/open.ts';
import { readText } from '../../../directory.ts';
import {
  type MirrorOutcome,
  type MirrorRequest,
  prepareImageSet,
  prepareMirror,
  writePlan,
} from '../../../mirror/prepare.ts';
import { readPublishReceipt } from '../../../publish/receipt.ts';
import type { ExitCode, Terminal } from '../../../terminal.ts';
import { amountText, findingText, linesText, plainText } from '../../../text.ts';
import { writeFiles } from '../../../write.ts';
import { type Command, type Invocation, usageError } from '../../command.ts';
import { openOperand } from '../../operands.ts';
import type { BuiltSelection } from '../../publish/build-selection.ts';
import { REGISTRY_OPTIONS } from '../../registry-options.ts';
import { BUNDLES_OPTION, deployedImages, selectedCatalogs, withDeployments } from '../deployed-images.ts';
import { catalogSourceTemplates, openImageSet, writeCharts } from '../image-set.ts';
import { RELEASE_OPTIONS } from '../release-options.ts';
import {
  DOCUMENT_OPTIONS,
  documentOptions,
  NAMING_OPTIONS,
  namingOptions,
  refuseUnused,
  UPGRADE_OPTIONS,
} from './plan-options.ts';

export const command: Command = {
  words: 'mirror plan',
  operands: '[DIR|IMAGE|RECEIPT…]',
  options: {
    as: {
      value: 'REFERENCE',
      description:
        'reference of the index image (default: the image itself; for a directory, localhost/catalog:DIR)',
    },
    digest: {
      value: 'DIGEST',
      description:
        'digest of the index image, to pin its copy and the catalog source (default: the digest of IMAGE)',
    },
    out: { short: 'o', value: 'DIR', description: 'directory to write the files to (default: mirror)' },
    ...NAMING_OPTIONS,
    online: {
      description:
        'also check in the registries that each image exists and is not a Docker schema 1 image, and read deployments that the catalog leaves out from the images of bundles',
    },
    'image-platform': {
      value: 'OS/ARCHITECTURE',
      description: 'copy only this platform of the images, for example linux/amd64 (default: all platforms)',
      multiple: true,
    },
    ...DOCUMENT_OPTIONS,
    ...RELEASE_OPTIONS,
    'image-set': {
      value: 'FILE',
      description:
        'plan the mirror for an ImageSetConfiguration or DeleteImageSetConfiguration of oc-mirror instead of a catalog',
    },
    'skip-unsupported': {
      description: 'skip parts of an ImageSetConfiguration that Portolan does not support, such as samples',
    },
    only: {
      value: 'PACKAGE[@CHANNEL|RANGE]',
      description: 'mirror only this package and its dependencies',
      multiple: true,
    },
    build: {
      value: 'REPOSITORY:TAG|oci:DIR',
      description: 'build the index image of the selection, and push it here for the copy',
    },
    'base-image': { value: 'REFERENCE', description: 'opm image to build on (default: none)' },
    ...UPGRADE_OPTIONS,
    ...BUNDLES_OPTION,
    format: { value: 'text|json', description: 'output format (default: text)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'IMAGE is a reference, oci:DIR, oci-archive:FILE or docker-archive:FILE. RECEIPT is the receipt.json of portolan',
    'publish. Without --to, Portolan uses the plan that publish attached to the image. To copy the images, run portolan',
    'mirror copy, or oc image mirror --keep-manifest-list=true -f mapping.txt. To configure the cluster, apply the other',
    'files with oc apply -k.',
    'With --from, the arguments are the catalogs of each OpenShift version from that of the cluster to that of --to, named',
    'such as v4.20. Portolan writes the fewest releases and upgrades of operators, in their order, as a list, as patches and',
    'as the smallest ImageSetConfiguration, and simulates each step. The exit code is 1 if the cluster cannot get there.',
  ].join('\n'),
  examples: [
    'portolan mirror plan catalogs/v4.20 --as quay.io/acme/catalog:v4.20 --to mirror.example.com/olm',
    'portolan mirror plan quay.io/acme/catalog:v4.20 --to mirror.example.com --only etcd@stable',
    'portolan mirror plan --from cluster.json --to 4.20 catalogs/v4.18 catalogs/v4.19 catalogs/v4.20 --as quay.io/acme/catalog',
  ],
  run: async (invocation, terminal) => {
    refuseUnused(command, invocation);
    const from = invocation.text('from');
    if (from !== undefined)
      return (await import('./plan-upgrade.ts')).planClusterUpgrade(from, invocation, terminal);
    if (invocation.operands.length > 1)
      throw usageError(command, `unexpected argument ${JSON.stringify(invocation.operands[1])}`);
    const file = invocation.text('image-set');
    if (file !== undefined) return planImageSet(file, invocation, terminal);
    const operand = publishedImage(invocation.operands[0] ?? '.', terminal);
    if (invocation.text('to') === undefined) {
      // Most plans are made of directories: registries are loaded for those that are not.
      const { takeAttachedPlan } = await import('./attached-plan.ts');
      return takeAttachedPlan(command, operand, { invocation, terminal });
    }
    const opened = await openOperand(operand, invocation, terminal);
    try {
      const reference = invocation.text('as') ?? referenceOf(opened) ?? nameOfUnnamed(opened, terminal);
      const request = requestOf(invocation, { opened, reference, terminal });
      const { catalogs: known, outcome } = await preparedOutcome(
        request.catalogs,
        (some) => prepareMirror({ ...request, catalogs: some }),
        { invocation, terminal },
      );
      const built = await buildOf(outcome, invocation, terminal);
      if (!built) return await write(outcome, invocation, terminal);
      // Whether the built image has a server is in the options of documents: that of the old one no longer matters.
      const catalogs = known.map((catalog) => ({ ...catalog, ...built, serverless: false }));
      return await write(await prepareMirror({ ...request, catalogs }), invocation, terminal);
    } finally {
      await opened.close();
    }
  },
};

/** Prepares a mirror; where registries are asked anyway, with the deployments that only bundles' images have. */
async function preparedOutcome<C extends { readonly deployed?: DeployedImages | undefined }>(
  catalogs: readonly C[],
  prepare: (catalogs: readonly C[]) => Promise<MirrorOutcome>,
  options: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<{ readonly catalogs: readonly C[]; readonly outcome: MirrorOutcome }> {
  if (options.invocation.flag('online')) return withDeployments(catalogs, prepare, options);
  return { catalogs, outcome: await prepare(catalogs) };
}

/** Plans what an ImageSetConfiguration selects, and writes the plan, or the list to delete. */
async function planImageSet(file: string, invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  if (invocation.operands.length > 0)
    throw usageError(command, '--image-set already names the catalogs: omit the argument');
  const { imageSet, catalogs, groups, documents, fetched, close } = await openImageSet(
    file,
    invocation,
    terminal,
  );
  try {
    const request = {
      imageSet,
      catalogs: selectedCatalogs(catalogs, invocation, terminal),
      charts: groups,
      ...namingOptions(command, invocation),
      documents: {
        ...documentsAsked(invocation, terminal),
        ...documents,
        templates: catalogSourceTemplates(imageSet, terminal.directory),
      },
    };
    const { catalogs: known, outcome } = await preparedOutcome(
      request.catalogs,
      (some) => prepareImageSet({ ...request, catalogs: some }),
      { invocation, terminal },
    );
    if (imageSet.deletes) return await writeDeleteList(outcome, invocation, terminal);
    writeCharts(resolve(terminal.directory, invocation.text('out') ?? 'mirror'), { fetched });
    const built = await buildOf(outcome, invocation, terminal);
    if (!built) return await write(outcome, invocation, terminal);
    // Only a catalog that is selected in part has an image that was built here, in place of the old one.
    const chosen = known.map((catalog, i) =>
      outcome.selections[i] ? { ...catalog, ...built, serverless: false } : catalog,
    );
    return await write(await prepareImageSet({ ...request, catalogs: chosen }), invocation, terminal);
  } finally {
    await close();
  }
}

/** What a DeleteImageSetConfiguration asks for: a list to look at before anything is deleted. */
async function writeDeleteList(
  { findings, report }: MirrorOutcome,
  invocation: Invocation,
  terminal: Terminal,
): Promise<ExitCode> {
  for (const finding of [...findings].sort(compareFindings)) terminal.err(findingText(finding));
  // What is not found could be an image that other packages need.
  if (findings.some(({ severity }) => severity === 'error')) return 1;
  const out = invocation.text('out') ?? 'mirror';
  const file = join(out, DELETE_LIST);
  writeFiles(resolve(terminal.directory, out), new Map([[DELETE_LIST, deleteImagesText(report.images)]]));
  await terminal.out(`${amountText(report.images.length, 'image')} to delete in ${plainText(file)}\n`);
  terminal.err(
    `nothing is deleted yet: read the list, then run portolan mirror prune ${shellWord(plainText(file))} --yes\n`,
  );
  return 0;
}

const DELETE_LIST = 'delete-images.yaml';

/** Builds the image of the selection, if that is asked for; undefined if not, and where errors would leave something out. */
async function buildOf(
  { selections, findings }: MirrorOutcome,
  invocation: Invocation,
  terminal: Terminal,
): Promise<BuiltSelection | undefined> {
  const place = invocation.text('build');
  if (place === undefined || findings.some(({ severity }) => severity === 'error')) return undefined;
  const [blobs, ...more] = selections.filter((one) => one !== undefined);
  if (!blobs || more.length > 0) {
    throw usageError(
      command,
      `--build requires exactly one selected catalog, found ${blobs ? more.length + 1 : 'none'}`,
    );
  }
  const { buildSelection } = await import('../../publish/build-selection.ts');
  return buildSelection(blobs, place, { invocation, terminal });
}

/** The image that a receipt of a publish is about; other operands as they are. */
function publishedImage(operand: string, { directory }: Terminal): string {
  if (!operand.endsWith('.json')) return operand;
  const receipt = readPublishReceipt(readText(resolve(directory, operand)));
  if (!receipt) throw usageError(command, `${operand} is not a receipt of portolan publish`);
  return receipt;
}

/** Writes the plan and prints what can be installed with it. No plan if a catalog could not be read whole. */
async function write(planned: MirrorOutcome, invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const options = documentsAsked(invocation, terminal);
  const outcome = invocation.flag('online')
    ? await (await import('./plan-online.ts')).checkOnline(planned, options.platform, {
        invocation,
        terminal,
      })
    : planned;
  for (const finding of [...outcome.findings].sort(compareFindings)) terminal.err(findingText(finding));
  const errors = outcome.findings.filter(({ severity }) => severity === 'error');
  // A catalog that cannot be read whole has images that nobody knows of: no plan at all.
  if (errors.some(({ rule }) => !OF_SINGLE_IMAGES.has(rule))) return 1;
  const out = resolve(terminal.directory, invocation.text('out') ?? 'mirror');
  const { written, removed } = writePlan(out, outcome, options);
  writeSelections(out, outcome);
  for (const { package: name, bundle, why } of outcome.kept) {
    terminal.err(`kept ${plainText(`${name}/${bundle}`)}: ${plainText(why)}\n`);
  }
  for (const { destination } of outcome.report.catalogs.filter((one) => isToBuild(one, outcome))) {
    terminal.err(
      `the plan does not copy the index image of the selection to ${plainText(destination)}: use --build to build it\n`,
    );
  }
  if (invocation.text('format') === 'json')
    await terminal.out(`${JSON.stringify(outcome.report, null, 2)}\n`);
  else await terminal.out(linesText(installableLines(outcome.report)));
  const changed = [...written, ...removed.map((name) => `-${name}`)];
  terminal.err(`${out}: ${changed.length === 0 ? 'nothing changed' : changed.join(', ')}\n`);
  return errors.length > 0 || !isInstallable(outcome.report) ? 1 : 0;
}

/** Errors after which everything else can be mirrored. */
const OF_SINGLE_IMAGES: ReadonlySet<string> = new Set([
  'mirror/reference',
  'mirror/source',
  'mirror/chart',
  'mirror/release',
]);

/** Whether a catalog is a selection of which no image was built: the documents name one that nothing brings. */
function isToBuild({ selected, destination }: ReportedCatalog, { report }: MirrorOutcome): boolean {
  return selected && !report.images.some((image) => image.destination === destination);
}

interface Planned {
  readonly opened: OpenCatalog;
  readonly reference: string;
  readonly terminal: Terminal;
}

/** The plan for one catalog that the options ask for. */
function requestOf(invocation: Invocation, { opened, reference, terminal }: Planned): MirrorRequest {
  const { text, list } = invocation;
  const { source, image } = opened;
  return {
    catalogs: [
      {
        source,
        reference,
        digest: text('digest') ?? image?.digest,
        serverless: image?.hasServer === false,
        name: text('name'),
        choices: list('only').map(parseChoice),
        deployed: deployedImages(invocation, terminal),
        platforms: platformsOption(list('image-platform')),
      },
    ],
    ...namingOptions(command, invocation),
    documents: documentsAsked(invocation, terminal),
  };
}

/** The reference under which an image was asked for; one in a directory or archive has none that clusters know. */
function referenceOf({ image }: OpenCatalog): string | undefined {
  return image && image.reference.registry !== '' ? formatReference(image.reference) : undefined;
}

/** A name for an index image that has none: its directory's, with what no tag may hold left out. */
function nameOfUnnamed({ name }: OpenCatalog, { directory, err }: Terminal): string {
  const tag = basename(resolve(directory, name))
    .replaceAll(/^[^\w]+|[^\w.-]/g, '')
    // A tag has at most 128 characters.
    .slice(0, 128);
  const reference = `localhost/catalog:${tag || 'latest'}`;
  err(`using ${plainText(reference)} as the name of the index image: use --as to set the real one\n`);
  return reference;
}

/** The platforms that an option names. @throws PipelineError `usage` */
function platformsOption(texts: readonly string[]): Platforms {
  const wrong = texts.find((text) => !isPlatform(text));
  if (wrong === undefined) return platformsOf(texts);
  const expected = 'OS/ARCHITECTURE, for example linux/amd64';
  throw usageError(command, `--image-platform must be ${expected}, not ${JSON.stringify(wrong)}`);
}

/** How the options want the plan's documents to be. */
function documentsAsked(invocation: Invocation, { directory }: Terminal): DocumentOptions {
  const builds = invocation.text('build') !== undefined;
  return documentOptions(command, invocation, { directory, builds });
}

/** The selected catalogs beside the plan: their images are to be built from them. */
function writeSelections(out: string, { selections }: MirrorOutcome): void {
  const isOne = selections.length === 1;
  for (const [i, blobs] of selections.entries()) {
    if (!blobs) continue;
    const text = renderOrder(blobs).map(renderJson).join('');
    writeFiles(join(out, isOne ? 'catalog' : `catalog-${i + 1}`), new Map([['catalog.json', text]]));
  }
}
