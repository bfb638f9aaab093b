/** Catalogs that commands are given, read and said to be wrong where they are. */
import { type Blobs, type Catalog, catalogOf, joinedBlobs } from '../../../catalog/fbc/model.ts';
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { plainBundle } from '../../../catalog/opm/template/template.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import type { Rendering } from '../../catalogs/render/load.ts';
import { renderReference } from '../../catalogs/render/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import { findingText } from '../../text.ts';
import { mirrorsFor } from '../mirror-documents.ts';
import type { Call, World } from './command.ts';

/**
 * The blobs of several references as one catalog; undefined when something could not be read,
 * which has been said then.
 */
export async function readAll(
  call: Call,
  world: World,
  options: Omit<Rendering, 'directory' | 'registry'> & { readonly references: readonly string[] },
): Promise<Blobs | undefined> {
  const registry = registryLookup(call, world);
  const rendered: Blobs[] = [];
  for (const reference of options.references) {
    const { blobs, findings } = await renderReference(reference, {
      ...options,
      directory: world.terminal.directory,
      registry,
    });
    if (printErrors(findings, world)) return undefined;
    rendered.push(blobs);
  }
  return joinedBlobs(rendered);
}

/** The catalog of blobs that pass opm's rules; undefined when they do not, which has been said then. */
export function validCatalog(blobs: Blobs, world: World): Catalog | undefined {
  // Rules look into properties, which rendered bundles keep as text.
  const plain = { ...blobs, bundles: blobs.bundles.map(plainBundle) };
  return printErrors(opmFindings(plain), world) ? undefined : catalogOf(plain);
}

/** Prints errors. @returns whether there are any */
export function printErrors(findings: readonly Finding[], { terminal }: World): boolean {
  const errors = findings.filter(({ severity }) => severity === 'error').sort(compareFindings);
  for (const finding of errors) terminal.err(findingText(finding));
  return errors.length > 0;
}

// How registries are reached, by the flags that every command has.

/**
 * The way to the registry of a host.
 *
 * @throws PipelineError `usage` for flags that exclude each other, and for mirrors that cannot be read
 */
export function registryLookup(
  call: Call,
  { registry, terminal }: World,
): (host: string) => Registry | Promise<Registry> {
  for (const [a, b] of EXCLUSIVE) {
    if (call.given(a) && call.given(b))
      throw new PipelineError('usage', `--${a} and --${b} cannot be used together`);
  }
  if (call.flag('skip-tls-verify')) {
    terminal.err('certificates are still verified; set NODE_EXTRA_CA_CERTS to a file with your own CA\n');
  }
  const plainHttp = call.flag('use-http') || call.flag('skip-tls');
  // `text` gives an empty text for a flag that was not given.
  const given = (flag: string): string | undefined => (call.given(flag) ? call.text(flag) : undefined);
  const mirrors = mirrorsFor({ list: call.list, text: given }, terminal.directory);
  return (host) => registry(host, { plainHttp, mirrors });
}

/** Pairs of which opm allows only one. */
const EXCLUSIVE = [
  ['skip-tls', 'use-http'],
  ['skip-tls', 'skip-tls-verify'],
  ['use-http', 'skip-tls-verify'],
] as const;

// Migrations that opm can apply to what it renders.
// @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/migrations/migrations.go

export const MIGRATE_FLAG = {
  value: 'LEVEL',
  description: 'last migration to apply: none, bundle-object-to-csv-metadata or all',
} as const;

/**
 * Whether a level replaces manifests by `olm.csv.metadata`; the empty text is not a level.
 *
 * @throws PipelineError `usage` for a level that there is not
 */
export function migratesTo(level: string): boolean {
  switch (level) {
    case '':
    case 'none':
      return false;
    case 'bundle-object-to-csv-metadata':
    case 'all':
      return true;
    default:
      throw new PipelineError('usage', `unknown migration level ${JSON.stringify(level)}`, {
        hint: 'levels: none, bundle-object-to-csv-metadata, all',
      });
  }
}
