import { type ConvertedKind, convertTo } from '../../../catalog/opm/template/kinds.ts';
import { printedTemplate } from '../../catalogs/write-template.ts';
import { dataBytes } from '../../terminal.ts';
import { printErrors } from './catalog.ts';
import { type OpmCommand, OUTPUT_FLAG, outputOf, readInput } from './command.ts';

/** The command that converts a catalog to a template of one kind. */
function convertCommand(kind: ConvertedKind): OpmCommand {
  return {
    words: `alpha convert-template ${kind}`,
    summary: `Convert a catalog to a ${kind} template.`,
    operands: '[FILE|-]',
    least: 0,
    most: 1,
    flags: { output: { ...OUTPUT_FLAG, description: 'format of the template (json|yaml)' } },
    run: async (call, world) => {
      const format = outputOf(call, ['json', 'yaml']);
      const { text, findings } = convertTo(kind, await readInput(call.operands[0], world.terminal));
      if (printErrors(findings, world) || text === undefined) return 1;
      await world.terminal.out(dataBytes(printedTemplate(text, format)));
      return 0;
    },
  };
}

export const basic: OpmCommand = convertCommand('basic');
export const substitutes: OpmCommand = convertCommand('substitutes');
