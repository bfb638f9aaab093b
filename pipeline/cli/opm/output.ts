/** The formats that opm prints in. */
import { PipelineError } from '../../error.ts';
import type { Call } from './command.ts';

export const OUTPUT_FLAG = { short: 'o', value: 'FORMAT', default: 'json' } as const;

/**
 * The value of `--output`.
 *
 * @throws PipelineError `usage` when it is none of the formats
 */
export function outputOf<Format extends string>(call: Call, formats: readonly Format[]): Format {
  const output = call.text('output');
  const known = formats.find((format) => format === output);
  if (known !== undefined) return known;
  throw new PipelineError('usage', `--output must be ${formats.join(' or ')}, not ${JSON.stringify(output)}`);
}
