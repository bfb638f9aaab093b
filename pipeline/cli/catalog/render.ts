import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ImageTemplate, parseImageTemplate } from '../../../catalog/bundle/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { streamReferences } from '../../catalogs/render/stream.ts';
import { imagePlace } from '../../oci/registry/image-location.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import {
  formatOf,
  LIFECYCLES_OPTION,
  lifecyclesInto,
  printErrors,
  printOrWriteCatalog,
  RENDER_OPTIONS,
  renderAll,
  renderingOf,
} from '../rendering.ts';
import { SECOND_THREAD } from '../thread-options.ts';

export const command: Command = {
  words: 'render',
  operands: 'DIR|REFERENCE…',
  options: {
    ...RENDER_OPTIONS,
    ...LIFECYCLES_OPTION,
    'migrate-level': {
      value: 'none|bundle-object-to-csv-metadata|all',
      description: 'replace the manifests in bundles with olm.csv.metadata (default: none)',
    },
    'image-ref-template': {
      value: 'TEMPLATE',
      description: 'image of each bundle directory; may contain {{.Package}}, {{.Name}} and {{.Version}}',
    },
  },
  details: [
    'Renders directories that contain a catalog or a bundle, index images and bundle images. Images can be in registries,',
    'image layouts (oci:DIR:TAG) and archives (oci-archive:FILE, docker-archive:FILE).',
  ].join('\n'),
  examples: [
    'portolan render catalogs/v4.20 -o yaml',
    'portolan render quay.io/operatorhubio/catalog:latest --to catalog',
    'portolan render catalogs/v5.0 --lifecycles lifecycles.json --to catalog',
    "portolan render bundle --image-ref-template 'quay.io/example/{{.Package}}:v{{.Version}}'",
  ],
  run: async (invocation, terminal) => {
    const format = formatOf(invocation);
    const rendering = {
      ...renderingOf(invocation, terminal),
      migrates: migrates(invocation),
      ...imageTemplate(invocation),
    };
    const references = invocation.operands;
    // What does not exist here is an image, as for opm, which asks Docker Hub for a mistyped path: that is refused
    // first.
    for (const reference of references)
      if (!existsSync(resolve(terminal.directory, reference))) imagePlace(reference);
    if (invocation.text('to') !== undefined || invocation.text('lifecycles') !== undefined) {
      const read = async () =>
        lifecyclesInto(await renderAll(references, rendering, terminal), invocation, terminal);
      return printOrWriteCatalog(read, format, { invocation, terminal });
    }
    const refuses = (findings: readonly Finding[]) => printErrors(findings, terminal);
    const { out } = terminal;
    return (await streamReferences({ references, rendering, format, refuses, out, threads: SECOND_THREAD }))
      ? 0
      : 1;
  },
};

/** Whether bundles are migrated; opm's level `all` has no other migration so far. @throws PipelineError `usage` */
function migrates({ text }: Invocation): boolean {
  const level = text('migrate-level') ?? 'none';
  if (level === 'none') return false;
  if (level === 'bundle-object-to-csv-metadata' || level === 'all') return true;
  throw usageError(command, `unknown migration level ${JSON.stringify(level)}`);
}

/** The template for the names of images, if one is given. @throws PipelineError `usage` */
function imageTemplate({ text }: Invocation): { imageTemplate?: ImageTemplate } {
  const template = text('image-ref-template');
  if (template === undefined) return {};
  try {
    return { imageTemplate: parseImageTemplate(template) };
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(command, error.message);
    throw error;
  }
}
