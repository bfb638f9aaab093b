import { type RegistryBundle, readBundle } from '../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../catalog/bundle/render.ts';
import { addBundles, type PlacedBundle, UPDATE_MODES, type UpdateMode } from '../../catalog/edit/update.ts';
import type { Blobs, Bundle } from '../../catalog/model.ts';
import { opmFindings } from '../../catalog/rules/opm.ts';
import { isObject } from '../../catalog/shape.ts';
import { plainBundle } from '../../catalog/template/template.ts';
import { withBundle } from '../bundle/open.ts';
import { attempt } from '../edit/catalog.ts';
import { PipelineError } from '../error.ts';
import type { Rendering } from '../render/loaded.ts';
import { type Command, type Invocation, usageError } from './command.ts';
import { deliver, formatOf, RENDER_OPTIONS, renderAll, renderingOf, sayErrors } from './rendering.ts';
import type { Terminal } from './terminal.ts';

export const command: Command = {
  words: 'index add',
  summary: 'Put bundles into a catalog as opm index add put them into its database, and print the catalog.',
  operands: '',
  options: {
    bundles: { value: 'REF,…', description: 'images of bundles, or bundle directories' },
    'from-index': { value: 'REF', description: 'the index image or directory to start from (default: none)' },
    mode: {
      value: UPDATE_MODES.join('|'),
      description: 'where edges come from: the bundles, or their versions (default: replaces)',
    },
    ...RENDER_OPTIONS,
  },
  details: [
    'replaces: a bundle has the replaces, skips and olm.skipRange of its ClusterServiceVersion, in the channels of its',
    'annotations. semver: in each channel a version replaces the next lower one. semver-skippatch: besides, the last',
    'patch of a minor version skips the others, and minor versions replace each other.',
    'What would break a rule of opm is refused. portolan publish makes an image of the catalog.',
  ].join('\n'),
  examples: [
    'portolan index add --bundles quay.io/example/foo-bundle:v1.2.0 --from-index quay.io/example/index:v4.20 --to catalog',
  ],
  run: async (invocation, terminal) => {
    const mode = modeOf(invocation);
    const references = invocation
      .needed('bundles')
      .split(',')
      .filter((name) => name !== '');
    if (references.length === 0) throw usageError(command, '--bundles names no bundle');
    const read = async (): Promise<Blobs | undefined> => {
      const rendering = renderingOf(invocation, terminal);
      const base = await baseOf(invocation, rendering, terminal);
      const bundles: PlacedBundle[] = [];
      for (const reference of references) {
        const bundle = base && (await placedBundle(reference, rendering, terminal));
        if (!bundle) return undefined;
        bundles.push(bundle);
      }
      const blobs = base && attempt(() => addBundles(base, bundles, mode));
      if (!blobs) return undefined;
      const judged = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
      return sayErrors(opmFindings(judged), terminal) ? undefined : blobs;
    };
    return deliver(read, formatOf(command, invocation), { invocation, terminal });
  },
};

function modeOf({ text }: Invocation): UpdateMode {
  const wanted = text('mode') ?? 'replaces';
  const mode = UPDATE_MODES.find((one) => one === wanted);
  if (mode) return mode;
  throw usageError(command, `--mode must be ${UPDATE_MODES.join(', ')}, not ${JSON.stringify(wanted)}`);
}

const NOTHING: Blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };

function baseOf(
  invocation: Invocation,
  rendering: Rendering,
  terminal: Terminal,
): Promise<Blobs | undefined> {
  const index = invocation.text('from-index');
  if (index === undefined) return Promise.resolve(NOTHING);
  return renderAll([index], { ...rendering, only: 'catalogs' }, terminal);
}

async function placedBundle(
  reference: string,
  rendering: Rendering,
  terminal: Terminal,
): Promise<PlacedBundle | undefined> {
  const { bundle, findings, labels } = await withBundle(reference, rendering, ({ source, labels }) =>
    readBundle(source).then((read) => ({ ...read, labels })),
  );
  if (sayErrors(findings, terminal) || !bundle) return undefined;
  // A directory has no image: its bundle brings its manifests.
  const options = labels ? { image: reference, migrateLevel: 'bundle-object-to-csv-metadata' as const } : {};
  const { blob, findings: refused } = renderBundle(bundle, options);
  if (sayErrors(refused, terminal) || !blob) return undefined;
  return placed(bundle, blob);
}

function placed(bundle: RegistryBundle, blob: Bundle): PlacedBundle {
  const { version } = blob;
  if (!version) throw new PipelineError('usage', `the bundle ${JSON.stringify(blob.name)} has no version`);
  const spec = isObject(bundle.csv.value['spec']) ? bundle.csv.value['spec'] : {};
  const metadata = isObject(bundle.csv.value['metadata']) ? bundle.csv.value['metadata'] : {};
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  const icon: unknown = Array.isArray(spec['icon']) ? spec['icon'][0] : undefined;
  return {
    blob,
    version,
    channels: bundle.channels.map((channel) => channel.trim()),
    defaultChannel: bundle.defaultChannel,
    replaces: textOf(spec['replaces']),
    skips: Array.isArray(spec['skips']) ? spec['skips'].map(textOf) : [],
    skipRange: textOf(annotations['olm.skipRange']),
    ...(isObject(icon)
      ? { icon: { base64data: textOf(icon['base64data']), mediatype: textOf(icon['mediatype']) } }
      : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
