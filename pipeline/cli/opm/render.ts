import { type ImageTemplate, parseImageTemplate } from '../../../catalog/bundle/render.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { streamReferences } from '../../catalogs/render/stream.ts';
import { PipelineError } from '../../error.ts';
import { SECOND_THREAD } from '../thread-options.ts';
import { MIGRATE_FLAG, migratesTo, printErrors, registryLookup } from './catalog.ts';
import { type OpmCommand, OUTPUT_FLAG, outputOf } from './command.ts';

export const command: OpmCommand = {
  words: 'render',
  summary: 'Print catalogs as one stream of file-based catalog objects.',
  operands: 'DIRECTORY|IMAGE…',
  least: 1,
  most: Number.POSITIVE_INFINITY,
  flags: {
    output: { ...OUTPUT_FLAG, description: 'format of the stream (json|yaml)' },
    'migrate-level': MIGRATE_FLAG,
    migrate: { description: 'the same as --migrate-level all' },
    'alpha-image-ref-template': {
      value: 'TEMPLATE',
      description: 'image of bundle directories; may contain {{.Package}}, {{.Name}} and {{.Version}}',
    },
  },
  exclusive: ['migrate', 'migrate-level'],
  run: async (call, world) => {
    const format = outputOf(call, ['json', 'yaml']);
    const migrates = migratesTo(call.flag('migrate') ? 'all' : call.text('migrate-level'));
    const template = call.text('alpha-image-ref-template');
    const rendering = {
      directory: world.terminal.directory,
      registry: registryLookup(call, world),
      migrates,
      ...(template === '' ? {} : { imageTemplate: imageTemplateOf(template) }),
    };
    const refuses = (findings: readonly Finding[]) => printErrors(findings, world);
    const { out } = world.terminal;
    const request = { references: call.operands, rendering, format, refuses, out, threads: SECOND_THREAD };
    return (await streamReferences(request)) ? 0 : 1;
  },
};

/** The names of images that a template gives to bundle directories. @throws PipelineError `usage` for one that is not valid */
function imageTemplateOf(text: string): ImageTemplate {
  try {
    return parseImageTemplate(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new PipelineError('usage', error.message);
    throw error;
  }
}
