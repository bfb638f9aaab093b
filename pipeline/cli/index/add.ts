import { readBundle } from '../../../catalog/bundle/registry-bundle.ts';
import { renderBundle } from '../../../catalog/bundle/render.ts';
import { type PlacedBundle, placedBundle } from '../../../catalog/edit/package-graph.ts';
import { addBundles, UPDATE_MODES } from '../../../catalog/edit/update.ts';
import { type Blobs, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import { attemptEdit } from '../../catalogs/edit/catalog.ts';
import type { Rendering } from '../../catalogs/render/load.ts';
import type { Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { formatOf, printErrors, renderAll, renderingOf } from '../rendering.ts';
import { ACCEPT_OPTION, MADE_DETAILS, madeWithEffect } from '../show-effect.ts';
import { deliverIndex, INDEX_OPTIONS, TAG_DETAILS } from './index-image.ts';

export const command: Command = {
  words: 'index add',
  operands: '',
  options: {
    bundles: {
      value: 'REFERENCE,…',
      description: 'bundle images or bundle directories to add',
      required: true,
    },
    'from-index': {
      value: 'REFERENCE',
      description: 'index image, database or directory to start from (default: none)',
    },
    mode: {
      value: UPDATE_MODES.join('|'),
      description: 'how to determine upgrade edges (default: replaces)',
    },
    ...ACCEPT_OPTION,
    ...INDEX_OPTIONS,
  },
  details: [
    'Prints the resulting catalog, or writes it with --to or --tag. Modes:',
    '',
    '  replaces          use replaces, skips and olm.skipRange of the ClusterServiceVersion, in the annotated channels',
    '  semver            in each channel, each version replaces the next lower one',
    '  semver-skippatch  as semver; the last patch of a minor version also skips the other patches',
    '',
    'A bundle that is no longer reachable from a channel head is removed from the catalog and reported. An added bundle must',
    'be reachable.',
    '',
    MADE_DETAILS,
    '',
    ...TAG_DETAILS,
  ].join('\n'),
  examples: [
    'portolan index add --bundles quay.io/example/foo-bundle:v1.2.0 --from-index quay.io/example/index:v4.20 --to catalog',
    'portolan index add --bundles quay.io/example/foo-bundle:v1.2.0 --tag quay.io/example/index:v4.21 --base-image quay.io/operator-framework/opm:latest',
  ],
  run: async (invocation, terminal) => {
    const mode = invocation.word('mode', UPDATE_MODES) ?? 'replaces';
    const references = invocation
      .needed('bundles')
      .split(',')
      .filter((name) => name !== '');
    if (references.length === 0) throw usageError(command, '--bundles must name at least one bundle');
    const read = async (): Promise<Blobs | undefined> => {
      const rendering = renderingOf(invocation, terminal);
      const base = await baseOf(invocation, rendering, terminal);
      const bundles: PlacedBundle[] = [];
      for (const reference of references) {
        const bundle = base && (await readPlaced(reference, rendering, terminal));
        if (!bundle) return undefined;
        bundles.push(bundle);
      }
      const updated = base && attemptEdit(() => addBundles(base, bundles, mode));
      if (!updated) return undefined;
      const { blobs, findings } = updated;
      for (const finding of findings) terminal.err(findingText(finding));
      // opm's rules look into properties, which rendered bundles keep as text.
      const checked = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
      if (printErrors(opmFindings(checked), terminal)) return undefined;
      const before = invocation.text('from-index') === undefined ? undefined : base;
      return madeWithEffect({ name: 'index', before, after: blobs }, { invocation, terminal });
    };
    return deliverIndex(read, formatOf(invocation), { invocation, terminal });
  },
};

/** The catalog to add to: that of `--from-index`, or an empty one; undefined after its errors were printed. */
function baseOf(
  invocation: Invocation,
  rendering: Rendering,
  terminal: Terminal,
): Promise<Blobs | undefined> {
  const index = invocation.text('from-index');
  if (index === undefined) return Promise.resolve(NO_BLOBS);
  return renderAll([index], { ...rendering, only: 'catalogs' }, terminal);
}

/** A bundle with its place in the graph; undefined after its errors were printed. */
async function readPlaced(
  reference: string,
  rendering: Rendering,
  terminal: Terminal,
): Promise<PlacedBundle | undefined> {
  const { bundle, findings, labels } = await withBundle(reference, rendering, ({ source, labels }) =>
    readBundle(source).then((read) => ({ ...read, labels })),
  );
  if (printErrors(findings, terminal) || !bundle) return undefined;
  // A directory has no image: its bundle brings its manifests. Elsewhere they would be most of the catalog.
  const options = labels ? { image: reference, migrateLevel: 'bundle-object-to-csv-metadata' as const } : {};
  const { blob, findings: refused } = renderBundle(bundle, options);
  if (printErrors(refused, terminal) || !blob) return undefined;
  return attemptEdit(() => placedBundle(bundle, blob));
}
