import { schemaOf } from '../../../catalog/opm/template/entries.ts';
import { TEMPLATE_KINDS, type TemplateKind } from '../../../catalog/opm/template/kinds.ts';
import { TemplateError, type TemplateText } from '../../../catalog/opm/template/template.ts';
import { renderBundleImage } from '../../catalogs/render/image.ts';
import { writeBlobs } from '../../catalogs/write-blobs.ts';
import { PipelineError } from '../../error.ts';
import { dataBytes } from '../../terminal.ts';
import { MIGRATE_FLAG, migratesTo, printErrors, registryLookup } from './catalog.ts';
import {
  type Call,
  type OpmCommand,
  type OpmExit,
  OUTPUT_FLAG,
  outputOf,
  readInput,
  type World,
} from './command.ts';
import { graphText, versionErrors } from './graph.ts';

export const command: OpmCommand = {
  words: 'alpha render-template',
  summary: 'Expand a catalog template. Without a type, the schema of the template determines it.',
  operands: '[TYPE] [FILE|-]',
  least: 0,
  most: 2,
  flags: {
    output: { ...OUTPUT_FLAG, description: 'format of the catalog (json|yaml|mermaid)' },
    'migrate-level': MIGRATE_FLAG,
  },
  run: async (call, world) => {
    const { type, path } = operandsOf(call);
    const output = outputOf(call, ['json', 'yaml', 'mermaid']);
    const migrates = migratesTo(call.text('migrate-level'));
    const template = await readInput(path, world.terminal);
    try {
      return await printExpanded(
        { template, type: type ?? typeOf(template) },
        { call, world, output, migrates },
      );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      printErrors([error.finding], world);
      return 1;
    }
  },
};

/** The name that the command had before templates were called so. */
export const veneer: OpmCommand = {
  ...command,
  words: 'alpha render-veneer',
  run: (call, world) => {
    world.terminal.err('render-veneer is deprecated, use render-template\n');
    return command.run(call, world);
  },
};

/**
 * The type and the file of a template; a single operand is a type if there is one of this name.
 *
 * @throws PipelineError `usage`
 */
function operandsOf({ operands }: Call): { type: TemplateKind | undefined; path: string | undefined } {
  const [first, second] = operands;
  const type = TEMPLATE_KINDS.find(({ name }) => name === first);
  if (second === undefined) return type ? { type, path: undefined } : { type: undefined, path: first };
  if (type) return { type, path: second };
  const names = TEMPLATE_KINDS.map(({ name }) => name).join(', ');
  throw new PipelineError('usage', `unknown template type ${JSON.stringify(first)}`, {
    hint: `types: ${names}`,
  });
}

/** The type of a template, by its schema. @throws TemplateError or PipelineError `usage` */
function typeOf(template: TemplateText): TemplateKind {
  const schema = schemaOf(template);
  const type = TEMPLATE_KINDS.find((one) => one.schema === schema);
  if (type) return type;
  const schemas = TEMPLATE_KINDS.map((one) => one.schema).join(', ');
  throw new PipelineError('usage', `${template.file}: no template has the schema ${JSON.stringify(schema)}`, {
    hint: `schemas: ${schemas}`,
  });
}

/** Expands a template and prints the catalog, or its graph. */
async function printExpanded(
  { template, type }: { readonly template: TemplateText; readonly type: TemplateKind },
  how: {
    readonly call: Call;
    readonly world: World;
    readonly output: 'json' | 'yaml' | 'mermaid';
    readonly migrates: boolean;
  },
): Promise<OpmExit> {
  const { call, world, output, migrates } = how;
  const registry = registryLookup(call, world);
  const { blobs, findings } = await type.expand(template, (image) =>
    renderBundleImage(image, {
      directory: world.terminal.directory,
      registry,
      migrates,
    }),
  );
  if (printErrors(findings, world) || !blobs) return 1;
  if (output !== 'mermaid') {
    await writeBlobs(blobs, output, (text) => world.terminal.out(dataBytes(text)));
    return 0;
  }
  if (printErrors(versionErrors(blobs), world)) return 1;
  await world.terminal.out(graphText(blobs, { v0: true }));
  return 0;
}
