import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { appendLedger } from '../../check/world/ledger.ts';
import { readText } from '../../directory.ts';
import { writeFiles } from '../../write.ts';
import type { Command } from '../command.ts';
import { printUnread, readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'ledger',
  operands: 'FILE DIR|REFERENCE…',
  options: REGISTRY_OPTIONS,
  details:
    'The ledger lists every version that was ever published. If the policy contains graph.published: {ledger: FILE}, checks\n' +
    'use it to find the versions that clusters may still run.',
  examples: ['portolan ledger published.jsonl catalogs/v4.19 catalogs/v4.20'],
  run: async (invocation, terminal) => {
    const [file = '', ...operands] = invocation.operands;
    const path = resolve(terminal.directory, file);
    let text = existsSync(path) ? readText(path) : '';
    const today = terminal.now().toISOString().slice(0, 10);
    const catalogs = await readOperands(operands, invocation, terminal);
    // A version that is missing in the ledger counts as never published.
    if (printUnread(catalogs, terminal)) {
      terminal.err('FAIL: nothing was recorded: the catalogs cannot be read whole\n');
      return 2;
    }
    for (const { name, catalog } of catalogs) {
      text = appendLedger(text, { path: file, name, catalog, today });
    }
    writeFiles(dirname(path), new Map([[basename(path), text]]));
    return 0;
  },
};
