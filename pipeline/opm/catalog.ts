/** Catalogs that commands are given, read and said to be wrong where they are. */

import { joinedBlobs } from '../../catalog/blobs.ts';
import type { Finding } from '../../catalog/finding.ts';
import { compareFindings } from '../../catalog/finding.ts';
import { type Blobs, type Catalog, catalogOf } from '../../catalog/model.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { type Rule, runRules } from '../../catalog/rules/rule.ts';
import { type Rendering, renderReference } from '../render/reference.ts';
import { findingText } from '../report/text.ts';
import type { Call, World } from './command.ts';

/** Rules that stand for what opm says. */
export const OPM_RULES: readonly Rule[] = RULES.filter(({ opm }) => opm !== undefined && opm.length > 0);

/**
 * The blobs of several references as one catalog; undefined when something could not be read,
 * which has been said then.
 */
export async function readAll(
  call: Call,
  world: World,
  options: Pick<Rendering, 'catalogsOnly'> & { readonly references: readonly string[] },
): Promise<Blobs | undefined> {
  const rendered: Blobs[] = [];
  for (const reference of options.references) {
    const { blobs, findings } = await renderReference(reference, {
      ...options,
      directory: world.terminal.directory,
      registry: (host) => world.registry(host, { plainHttp: call.flag('use-http') }),
    });
    if (complain(findings, world)) return undefined;
    rendered.push(blobs);
  }
  return joinedBlobs(rendered);
}

/** The catalog of blobs that pass opm's rules; undefined when they do not, which has been said then. */
export function validCatalog(blobs: Blobs, world: World): Catalog | undefined {
  const catalog = catalogOf(blobs);
  return complain(runRules(catalog, OPM_RULES), world) ? undefined : catalog;
}

/** Prints errors. @returns whether there are any */
export function complain(findings: readonly Finding[], { terminal }: World): boolean {
  const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
  for (const finding of errors) terminal.err(findingText(finding));
  return errors.length > 0;
}
