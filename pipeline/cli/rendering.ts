/** What the commands that print catalogs have in common. */
import { resolve } from 'node:path';
import { withLifecycles } from '../../catalog/edit/lifecycles.ts';
import { load } from '../../catalog/fbc/load.ts';
import { type Blobs, joinedBlobs } from '../../catalog/fbc/model.ts';
import type { RenderFormat } from '../../catalog/fbc/render.ts';
import { compareFindings, type Finding } from '../../catalog/finding.ts';
import { sourceOf } from '../../catalog/source.ts';
import { writePackages } from '../catalogs/render/files.ts';
import type { Rendering } from '../catalogs/render/load.ts';
import { renderReference } from '../catalogs/render/reference.ts';
import { writeBlobs } from '../catalogs/write-blobs.ts';
import { directorySource, isDirectory, readContent } from '../directory.ts';
import { dataBytes, type ExitCode, type Terminal } from '../terminal.ts';
import { amountText, findingText } from '../text.ts';
import type { Invocation, Option } from './command.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';

export const RENDER_OPTIONS: Readonly<Record<string, Option>> = {
  output: { short: 'o', value: 'json|yaml', description: 'output format (default: json)' },
  to: { value: 'DIR', description: 'write one folder per package to this empty directory' },
  ...REGISTRY_OPTIONS,
};

export const LIFECYCLES_OPTION: Readonly<Record<string, Option>> = {
  lifecycles: {
    value: 'FILE|DIR',
    description: 'blobs with lifecycle metadata to add; they replace those of the same packages',
  },
};

/** The format that `--output` names; JSON without it. @throws PipelineError `usage` for another word */
export function formatOf({ word }: Invocation): RenderFormat {
  return word('output', ['json', 'yaml']) ?? 'json';
}

/** How references are rendered that a command is given. */
export function renderingOf(invocation: Invocation, terminal: Terminal): Rendering {
  return {
    directory: terminal.directory,
    registry: async (host) => {
      const { registryClientFor } = await import('./registry-access.ts');
      return registryClientFor(invocation, terminal, { hosts: [host] });
    },
  };
}

/** Renders all references as one catalog; undefined when one has errors, which are printed. */
export async function renderAll(
  references: readonly string[],
  rendering: Rendering,
  terminal: Terminal,
): Promise<Blobs | undefined> {
  const rendered: Blobs[] = [];
  for (const reference of references) {
    const { blobs, findings } = await renderReference(reference, rendering);
    if (printErrors(findings, terminal)) return undefined;
    rendered.push(blobs);
  }
  return joinedBlobs(rendered);
}

/** The catalog with the lifecycle metadata that `--lifecycles` names; undefined when it has errors, which are printed. */
export async function lifecyclesInto(
  blobs: Blobs | undefined,
  { text }: Invocation,
  terminal: Terminal,
): Promise<Blobs | undefined> {
  const operand = text('lifecycles');
  if (operand === undefined || !blobs) return blobs;
  const path = resolve(terminal.directory, operand);
  const source = isDirectory(path) ? directorySource(path) : sourceOf({ [operand]: readContent(path) });
  const read = await load(source);
  if (printErrors(read.findings, terminal)) return undefined;
  const { blobs: all, findings, packages, skipped } = withLifecycles(blobs, read.blobs);
  if (printErrors(findings, terminal)) return undefined;
  const left = skipped === 0 ? '' : `; the catalog does not have ${amountText(skipped, 'other package')}`;
  terminal.err(`lifecycle metadata for ${amountText(packages, 'package')}${left}\n`);
  return all;
}

/** Prints errors. @returns whether there are any */
export function printErrors(findings: readonly Finding[], terminal: Terminal): boolean {
  const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
  for (const finding of errors) terminal.err(findingText(finding));
  return errors.length > 0;
}

/** Prints a catalog, or writes it where `--to` says. */
export async function printOrWriteCatalog(
  read: () => Promise<Blobs | undefined>,
  format: RenderFormat,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): Promise<ExitCode> {
  const to = invocation.text('to');
  if (to !== undefined) {
    const written = await writePackages(resolve(terminal.directory, to), format, read);
    if (written !== undefined) terminal.err(`wrote ${amountText(written, 'file')} to ${to}\n`);
    return written === undefined ? 1 : 0;
  }
  const blobs = await read();
  if (!blobs) return 1;
  await writeBlobs(blobs, format, (text) => terminal.out(dataBytes(text)));
  return 0;
}
