import { basename, dirname, resolve } from 'node:path';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import { compareText } from '../../../catalog/go/text.ts';
import type { Fleet } from '../../../catalog/olm/fleet/fleet.ts';
import { changeOf, type WorldOptions } from '../../../catalog/olm/foresight/world.ts';
import { formatReference, type TagReference, withDigest } from '../../../catalog/reference.ts';
import { Undecided } from '../../../catalog/undecided.ts';
import { fleetChange } from '../../check/fleet/fleet-audit.ts';
import { PipelineError } from '../../error.ts';
import { writtenReference } from '../../oci/registry/image-location.ts';
import type { Registry } from '../../ports.ts';
import { versionIn } from '../../publish/immutable-tag.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, plainText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import { type Command, countOption, type Invocation, usageError } from '../command.ts';
import { FLEET_OPTION, fleetOption } from '../fleet-option.ts';
import { readOperands } from '../operands.ts';
import { registryClientFor } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

/** Images that are looked at by default. */
const IMAGES = 20;

export const command: Command = {
  words: 'renovate',
  operands: 'REFERENCE',
  options: {
    fleet: {
      ...FLEET_OPTION.fleet,
      description: 'file that lists what your clusters have installed (required)',
    },
    catalog: { value: 'NAME', description: 'name of the catalog (default: the tag, for example v4.20)' },
    last: { value: 'N', description: `number of images to look at, the latest (default: ${IMAGES})` },
    out: { short: 'o', value: 'FILE', description: 'file to write (default: standard output)' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Writes a custom datasource for Renovate: the digests of an index image that take the upgrade path from no installation',
    'of your fleet. REFERENCE is the published tag; its immutable tags (publish.catalogs.immutableTags) are the versions.',
    'Each image is compared with the latest one before it that is listed. The oldest one is where clusters start. An image',
    'that cannot be checked is not listed, and the exit code is 2.',
  ].join('\n'),
  examples: ['portolan renovate quay.io/acme/catalog:v4.20 --fleet fleet.json --out v4.20.json'],
  run: async (invocation, terminal) => {
    const reference = writtenReference(invocation.operands[0] ?? '');
    if (reference.kind !== 'tag')
      throw usageError(command, 'REFERENCE needs a tag, for example quay.io/acme/catalog:v4.20');
    const fleet = fleetOption(invocation, terminal);
    if (!fleet || fleet.rows.length === 0)
      throw usageError(command, '--fleet needs a file with installations');
    if (fleet.unread > 0)
      throw new PipelineError(
        'usage',
        `${amountText(fleet.unread, 'row')} of the fleet cannot be read: no image counts as safe`,
      );
    const client = registryClientFor(invocation, terminal, { named: [formatReference(reference)] });
    try {
      const count = countOption(command, invocation, 'last') ?? IMAGES;
      const images = await imagesOf(client, reference, count);
      const checked = await checkImages(images, { fleet, reference, invocation, terminal });
      await write(datasourceOf(checked.safe), invocation, terminal);
      terminal.err(
        `${amountText(images.length, 'image')}: ${checked.safe.length} safe, ${checked.stranding} would strand installations, ${checked.unread} could not be checked\n`,
      );
      return checked.unread > 0 ? 2 : 0;
    } finally {
      client.close();
    }
  },
};

interface Image {
  readonly tag: string;
  readonly digest: string;
  /** `YYYYMMDDhhmmss` of the commit. */
  readonly time: string;
}

/** The latest images with immutable tags, the oldest first: such a tag begins with the time of its commit. */
async function imagesOf(client: Registry, published: TagReference, count: number): Promise<Image[]> {
  const tags: string[] = [];
  for await (const tag of client.listTags(published))
    if (versionIn(tag, published.tag) !== undefined) tags.push(tag);
  const images: Image[] = [];
  for (const tag of tags.sort(compareText).slice(-count)) {
    const digest = (await client.resolve({ ...published, tag }))?.digest;
    if (digest !== undefined)
      // The first 14 digits are the time of the commit.
      images.push({ tag, digest, time: (versionIn(tag, published.tag) ?? '').slice(0, 14) });
  }
  if (images.length === 0)
    throw new PipelineError('not-found', `${formatReference(published)} has no immutable tags`, {
      hint: 'publish with publish.catalogs: {…: {immutableTags: true}}',
    });
  return images;
}

interface Checking {
  readonly fleet: Fleet;
  readonly reference: TagReference;
  readonly invocation: Invocation;
  readonly terminal: Terminal;
}

interface Checked {
  readonly safe: readonly Image[];
  /** How many images would strand an installation. */
  readonly stranding: number;
  /** How many images could not be checked. */
  readonly unread: number;
}

/** Compares each published image with the latest safe one before it. */
async function checkImages(
  images: readonly Image[],
  { fleet, reference, invocation, terminal }: Checking,
): Promise<Checked> {
  const name = invocation.text('catalog') ?? reference.tag;
  const platform = minorOfCatalog(name);
  const safe: Image[] = [];
  let [stranding, unread] = [0, 0];
  let before: WorldOptions | undefined;
  for (const image of images) {
    // By its digest: a tag could move while it is read.
    const [read] = await readOperands(
      [formatReference(withDigest(reference, image.digest))],
      invocation,
      terminal,
    );
    const isWhole = read?.unread.every(({ severity }) => severity !== 'error') ?? false;
    const after = read && { name, catalog: read.catalog, ...(platform ? { platform } : {}) };
    const strands = isWhole && after ? await strandedBy(fleet, before, after) : undefined;
    if (strands === undefined) {
      unread++;
      terminal.err(`${plainText(image.tag)}: not listed, because it could not be checked\n`);
    } else if (strands > 0) {
      stranding++;
      terminal.err(
        `${plainText(image.tag)}: not listed, because it would strand installations on ${amountText(strands, 'cluster')}\n`,
      );
    } else {
      safe.push(image);
      before = after;
    }
  }
  return { safe, stranding, unread };
}

/** On how many clusters an installation loses its upgrade path; undefined where that cannot be decided. */
async function strandedBy(
  fleet: Fleet,
  before: WorldOptions | undefined,
  after: WorldOptions,
): Promise<number | undefined> {
  // The oldest image is where clusters start: nobody loses anything by it.
  if (!before) return 0;
  try {
    const change = await changeOf(before, after);
    const { report } = fleetChange(fleet, { changes: [change] }, new Set(change.packages));
    return report.outcomes
      .filter(({ outcome }) => outcome === 'strands')
      .reduce((sum, { clusters }) => sum + clusters, 0);
  } catch (error) {
    if (error instanceof Undecided) return undefined;
    throw error;
  }
}

/** The images as a custom datasource of Renovate. @see https://docs.renovatebot.com/modules/datasource/custom/ */
function datasourceOf(images: readonly Image[]): string {
  const releases = images.map(({ tag, digest, time }) => ({
    version: tag,
    digest,
    // `20260131120000` as `2026-01-31T12:00:00Z`.
    releaseTimestamp: time.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z'),
  }));
  return `${JSON.stringify({ releases }, null, 2)}\n`;
}

/** Writes a text to the file of `--out`, or prints it. */
async function write(text: string, invocation: Invocation, terminal: Terminal): Promise<void> {
  const file = invocation.text('out');
  if (file === undefined) return terminal.out(text);
  const path = resolve(terminal.directory, file);
  writeFiles(dirname(path), new Map([[basename(path), text]]));
}
