/** What the commands that list a catalog share. */

import type { Catalog } from '../../../catalog/fbc/model.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';
import type { Invocation, Option } from '../command.ts';
import { readOperands } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';
import { noPackage } from './no-package.ts';
import { tableText } from './table.ts';

export const LIST_OPTIONS: Readonly<Record<string, Option>> = {
  package: { value: 'NAME', description: 'only this package' },
  json: { description: 'print the rows as JSON, with all fields' },
  ...REGISTRY_OPTIONS,
};

/** How rows of one kind are made and shown. */
interface Listing<Row> {
  readonly rows: (catalog: Catalog) => readonly Row[];
  readonly titles: readonly string[];
  readonly cells: (row: Row) => readonly string[];
}

/**
 * Lists a catalog: as a table, or as JSON with every field. Errors of what cannot be read are reported on standard
 * error, and it is left out.
 *
 * @throws PipelineError `usage` for a package that the catalog does not have
 */
export async function list<Row extends { readonly package: string }>(
  invocation: Invocation,
  terminal: Terminal,
  { rows, titles, cells }: Listing<Row>,
): Promise<ExitCode> {
  const { operands, text, flag } = invocation;
  const [read] = await readOperands(operands, invocation, terminal);
  // Each operand gives one catalog: there is always one.
  if (!read) return 2;
  const wanted = text('package');
  if (wanted !== undefined) knownPackage(read.catalog, wanted);
  const errors = read.unread.filter(({ severity }) => severity === 'error');
  for (const finding of errors) terminal.err(findingText(finding));
  const found = rows(read.catalog).filter((row) => wanted === undefined || row.package === wanted);
  await terminal.out(
    flag('json') ? `${JSON.stringify(found, null, 2)}\n` : tableText(titles, found.map(cells), terminal),
  );
  return errors.length > 0 ? 1 : 0;
}

function knownPackage(catalog: Catalog, name: string): void {
  if (!catalog.packages.has(name)) throw noPackage(name, [catalog]);
}
