/** Templates on their way out. */
import { templateText } from '../../catalog/opm/template/kinds.ts';
import { EmitError } from '../../catalog/yaml/emit.ts';
import { PipelineError } from '../error.ts';

/** A template as it is printed. @throws PipelineError `usage` for what YAML cannot hold */
export function printedTemplate(text: string, format: 'json' | 'yaml'): string {
  try {
    return templateText(text, format);
  } catch (error) {
    if (!(error instanceof EmitError)) throw error;
    throw new PipelineError('usage', `cannot write ${error.path.join('.')} as YAML: ${error.message}`);
  }
}
