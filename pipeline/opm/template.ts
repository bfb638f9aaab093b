import { BASIC_SCHEMA, expandBasic } from '../../catalog/template/basic.ts';
import { schemaOf } from '../../catalog/template/entries.ts';
import { expandSemver } from '../../catalog/template/semver.ts';
import { SEMVER_SCHEMA } from '../../catalog/template/semver-read.ts';
import { expandSubstitutes, SUBSTITUTES_SCHEMA } from '../../catalog/template/substitutes.ts';
import { type Expand, TemplateError, type TemplateText } from '../../catalog/template/template.ts';
import { PipelineError } from '../error.ts';
import { renderBundleImage } from '../render/image.ts';
import { writeBlobs } from '../render/write.ts';
import { complain } from './catalog.ts';
import type { Call, OpmCommand, OpmExit, World } from './command.ts';
import { drawn, versionless } from './graph.ts';
import { readInput } from './input.ts';
import { MIGRATE_FLAG, migratesTo } from './migrations.ts';
import { OUTPUT_FLAG, outputOf } from './output.ts';

interface TemplateType {
  readonly name: string;
  readonly schema: string;
  readonly expand: Expand;
}

const TYPES: readonly TemplateType[] = [
  { name: 'basic', schema: BASIC_SCHEMA, expand: expandBasic },
  { name: 'semver', schema: SEMVER_SCHEMA, expand: expandSemver },
  { name: 'substitutes', schema: SUBSTITUTES_SCHEMA, expand: expandSubstitutes },
];

export const command: OpmCommand = {
  words: 'alpha render-template',
  summary: 'Expand a catalog template. Its type is found by its schema when none is given.',
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
      return await expanded({ template, type: type ?? typeOf(template) }, { call, world, output, migrates });
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      complain([error.finding], world);
      return 1;
    }
  },
};

/** The name that the command had before templates were called so. */
export const veneer: OpmCommand = {
  ...command,
  words: 'alpha render-veneer',
  run: (call, world) => {
    world.terminal.err('render-veneer is called render-template now\n');
    return command.run(call, world);
  },
};

function operandsOf({ operands }: Call): { type: TemplateType | undefined; path: string | undefined } {
  const [first, second] = operands;
  const type = TYPES.find(({ name }) => name === first);
  if (second === undefined) return type ? { type, path: undefined } : { type: undefined, path: first };
  if (type) return { type, path: second };
  const names = TYPES.map(({ name }) => name).join(', ');
  throw new PipelineError('usage', `there is no template type ${JSON.stringify(first)}`, {
    hint: `the types: ${names}`,
  });
}

/** @throws TemplateError or PipelineError `usage` */
function typeOf(template: TemplateText): TemplateType {
  const schema = schemaOf(template);
  const type = TYPES.find((one) => one.schema === schema);
  if (type) return type;
  const schemas = TYPES.map((one) => one.schema).join(', ');
  throw new PipelineError(
    'usage',
    `${template.file}: there are no templates of the schema ${JSON.stringify(schema)}`,
    {
      hint: `the schemas: ${schemas}`,
    },
  );
}

async function expanded(
  { template, type }: { readonly template: TemplateText; readonly type: TemplateType },
  how: {
    readonly call: Call;
    readonly world: World;
    readonly output: 'json' | 'yaml' | 'mermaid';
    readonly migrates: boolean;
  },
): Promise<OpmExit> {
  const { call, world, output, migrates } = how;
  const { blobs, findings } = await type.expand(template, (image) =>
    renderBundleImage(image, {
      directory: world.terminal.directory,
      registry: (host) => world.registry(host, { plainHttp: call.flag('use-http') }),
      migrates,
    }),
  );
  if (complain(findings, world) || !blobs) return 1;
  if (output !== 'mermaid') {
    await writeBlobs(blobs, output, world.terminal.out);
    return 0;
  }
  if (complain(versionless(blobs), world)) return 1;
  await world.terminal.out(drawn(blobs, { v0: true }));
  return 0;
}
