/** Catalogs that commands are given, read and said to be wrong where they are. */

import { joinedBlobs } from '../../../catalog/fbc/blobs.ts';
import { type Blobs, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareFindings } from '../../../catalog/finding.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import type { Rendering } from '../../catalogs/render/load.ts';
import { renderReference } from '../../catalogs/render/reference.ts';
import { findingText } from '../../text.ts';
import type { Call, World } from './command.ts';
import { registries } from './registry-flags.ts';

/**
 * The blobs of several references as one catalog; undefined when something could not be read,
 * which has been said then.
 */
export async function readAll(
  call: Call,
  world: World,
  options: Omit<Rendering, 'directory' | 'registry'> & { readonly references: readonly string[] },
): Promise<Blobs | undefined> {
  const registry = registries(call, world);
  const rendered: Blobs[] = [];
  for (const reference of options.references) {
    const { blobs, findings } = await renderReference(reference, {
      ...options,
      directory: world.terminal.directory,
      registry,
    });
    if (complain(findings, world)) return undefined;
    rendered.push(blobs);
  }
  return joinedBlobs(rendered);
}

/** The catalog of blobs that pass opm's rules; undefined when they do not, which has been said then. */
export function validCatalog(blobs: Blobs, world: World): Catalog | undefined {
  const plain = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
  return complain(opmFindings(plain), world) ? undefined : catalogOf(plain);
}

/** Prints errors. @returns whether there are any */
export function complain(findings: readonly Finding[], { terminal }: World): boolean {
  const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
  for (const finding of errors) terminal.err(findingText(finding));
  return errors.length > 0;
}
