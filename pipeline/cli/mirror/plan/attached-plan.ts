/** The plan that publish attached to an index image, written as if it were made anew. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PLAN_FILES } from '../../../../catalog/mirror/files.ts';
import { imagePlace, locationFrom } from '../../../oci/registry/image-location.ts';
import { openSource } from '../../../oci/registry/open.ts';
import { findPlan } from '../../../publish/artifacts.ts';
import type { ExitCode, Terminal } from '../../../terminal.ts';
import { plainText } from '../../../text.ts';
import { writeFiles } from '../../../write.ts';
import { type Command, type Invocation, usageError } from '../../command.ts';
import { withRegistryClient } from '../../registry-access.ts';

/**
 * Writes the mirror plan that is attached to a published image.
 *
 * @throws PipelineError `usage` when there is none, or more than one
 */
export async function takeAttachedPlan(
  command: Command,
  operand: string,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<ExitCode> {
  const { directory } = terminal;
  // Nothing can be attached to a directory, so the mirror must be named.
  if (statSync(resolve(directory, operand), { throwIfNoEntry: false })?.isDirectory()) {
    throw usageError(command, '--to is required');
  }
  return withRegistryClient<ExitCode>(invocation, terminal, { named: [operand] }, async (client) => {
    const at = locationFrom(directory, imagePlace(operand));
    const { registry, reference, close } = await openSource(at, client);
    const plan = await findPlan(registry, reference, PLAN_FILES).finally(close);
    if (!plan) throw usageError(command, `--to is required: no plan is attached to ${operand}`);
    const out = resolve(directory, invocation.text('out') ?? 'mirror');
    const { written } = writeFiles(out, plan.files, PLAN_FILES);
    await terminal.out(`${plainText(`${operand}: using the attached plan for ${plan.mirror}`)}\n`);
    terminal.err(`${out}: ${written.length === 0 ? 'nothing changed' : written.join(', ')}\n`);
    return 0;
  });
}
