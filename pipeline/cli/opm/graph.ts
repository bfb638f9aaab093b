import type { Blobs, Bundle } from '../../../catalog/fbc/model.ts';
import { packageProperty } from '../../../catalog/fbc/property.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { mermaidGraph } from '../../../catalog/opm/mermaid.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { ownProperty, property, version } from '../../../catalog/rules/bundle/properties.ts';
import { bundleChecker, ownSeverity } from '../../../catalog/rules/rule.ts';
import { VersionError } from '../../../catalog/version/version.ts';
import { PipelineError } from '../../error.ts';
import { printErrors, readAll } from './catalog.ts';
import type { OpmCommand } from './command.ts';

export const command: OpmCommand = {
  words: 'alpha render-graph',
  summary: 'Draw the upgrade graphs of a catalog as a Mermaid diagram.',
  operands: 'DIRECTORY|IMAGE…',
  least: 1,
  most: Number.POSITIVE_INFINITY,
  flags: {
    'minimum-edge': { value: 'BUNDLE', description: 'draw only this bundle and later ones' },
    'package-name': { short: 'p', value: 'PACKAGE', description: 'draw only this package' },
    'draw-v0-semantics': { description: 'mark what OLM v0 skips' },
  },
  run: async (call, world) => {
    const blobs = await readAll(call, world, { references: call.operands, only: 'catalogs' });
    if (!blobs || printErrors(versionErrors(blobs), world)) return 1;
    await world.terminal.out(
      graphText(blobs, {
        v0: call.flag('draw-v0-semantics'),
        ...(call.text('minimum-edge') === '' ? {} : { from: call.text('minimum-edge') }),
        ...(call.text('package-name') === '' ? {} : { package: call.text('package-name') }),
      }),
    );
    return 0;
  },
};

/**
 * The graph as text.
 *
 * @throws PipelineError `not-found` when there is no bundle to begin at, `usage` for a range that cannot be asked
 */
export function graphText(blobs: Blobs, options: Parameters<typeof mermaidGraph>[1]): string {
  try {
    const graph = mermaidGraph(blobs, options);
    if (graph !== undefined) return graph;
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new PipelineError('usage', error.message, { hint: 'remove the extra ||' });
  }
  throw new PipelineError('not-found', `no bundle ${JSON.stringify(options.from)} in the catalog`);
}

/** Errors of bundles whose version cannot be read. Of bundles with equal names only the first is checked. */
export function versionErrors(blobs: Blobs): Finding[] {
  const findings: Finding[] = [];
  const check = bundleChecker([ownProperty, property, version], ownSeverity, findings);
  const names = new Set<string>();
  for (const bundle of blobs.bundles) {
    if (!names.has(bundle.name)) check(asDrawn(plainBundle(bundle)));
    names.add(bundle.name);
  }
  return findings;
}

/** A drawing asks for versions only: not for the package that the property names, nor for the release. */
function asDrawn(bundle: Bundle): Bundle {
  const own = bundle.properties.find(({ type }) => type === 'olm.package');
  return { ...bundle, package: packageProperty(own?.value).packageName ?? bundle.package, release: '' };
}
