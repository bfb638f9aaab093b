/** Changes to the catalog in a directory, with what they do to clusters. */
import { basename } from 'node:path';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { changeOf, type WorldOptions } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runComparison } from '../../../catalog/rules/rule.ts';
import { type Edit, editCatalog } from '../../catalogs/edit/catalog.ts';
import { editedText } from '../../catalogs/edit/edited-text.ts';
import { placedDiffs } from '../../check/catalog-rules.ts';
import { directorySource } from '../../directory.ts';
import { diffText } from '../../report/diff.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import { findingText } from '../../text.ts';

/**
 * Makes a change, prints the files that it changed, and on standard error what it does to clusters.
 *
 * @param options.removes whether taking things from clusters is what was asked for: then only a refused change fails
 * @returns 1 when the change is refused, or when it harms clusters
 */
export async function editWithEffect(
  root: string,
  edit: Edit,
  { terminal, removes = false }: { readonly terminal: Terminal; readonly removes?: boolean },
): Promise<ExitCode> {
  const before = await catalogIn(root);
  const edited = await editCatalog(root, edit);
  const code = await editedText(edited, terminal);
  if (edited.changed.length === 0) return code;
  const harm = await printEffect(basename(root), { before, after: await catalogIn(root) }, terminal);
  return harm.length > 0 && !removes ? 1 : code;
}

async function catalogIn(root: string): Promise<Catalog> {
  return catalogOf((await load(directorySource(root))).blobs);
}

/** @returns the errors among what was found */
async function printEffect(
  name: string,
  { before, after }: { readonly before: Catalog; readonly after: Catalog },
  { err }: Terminal,
): Promise<readonly Finding[]> {
  const platform = minorOfCatalog(name);
  const options = (catalog: Catalog): WorldOptions => ({ name, catalog, ...(platform ? { platform } : {}) });
  const change = await changeOf(options(before), options(after));
  const findings = runComparison(change, RULES).filter(({ severity }) => severity !== 'info');
  for (const finding of findings) err(findingText(finding));
  err(diffText(placedDiffs(change, [name])));
  return findings.filter(({ severity }) => severity === 'error');
}
