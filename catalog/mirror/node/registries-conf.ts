/**
 * `registries.conf` of podman, CRI-O and skopeo, version 2: where images are looked for. Only the tables of registries
 * are read; what else a file may say (short names, credential helpers) does not matter for full names.
 *
 * @see https://github.com/containers/image/blob/main/docs/containers-registries.conf.5.md
 */
import type { NodeRegistry } from './node.ts';
import { readTomlTables, TomlError, type TomlTable } from './toml-tables.ts';

/** The registries by prefix. */
export type RegistriesConf = ReadonlyMap<string, NodeRegistry>;

/** What is wrong with a `registries.conf`. */
export class InvalidRegistriesConf extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'InvalidRegistriesConf';
    this.line = line;
  }
}

/** Reads a registries.conf as a node does. @throws InvalidRegistriesConf */
export function readRegistriesConf(text: string): RegistriesConf {
  const registries = new Map<string, NodeRegistry>();
  let current: { registry: TomlTable; mirrors: TomlTable[] } | undefined;
  const close = (): void => {
    if (current) addRegistry(current.registry, current.mirrors, registries);
  };
  for (const table of tablesOf(text)) {
    if (table.name === 'registry') {
      if (!table.isListed) throw errorAt(table, '[registry] must be [[registry]]');
      if (textOf(table, PULLS) !== '') throw errorAt(table, `${PULLS} belongs to a [[registry.mirror]]`);
      close();
      current = { registry: table, mirrors: [] };
    } else if (table.name === 'registry.mirror') {
      if (!current) throw errorAt(table, '[[registry.mirror]] must follow a [[registry]]');
      current.mirrors.push(table);
    } else if (/^registries\./.test(table.name)) {
      throw errorAt(table, `[${table.name}] is version 1 of the format: convert it to [[registry]]`);
    }
  }
  close();
  return registries;
}

/**
 * The tables of a text.
 *
 * @throws InvalidRegistriesConf
 */
function tablesOf(text: string): readonly TomlTable[] {
  try {
    return readTomlTables(text);
  } catch (error) {
    if (error instanceof TomlError) throw new InvalidRegistriesConf(error.message, error.line);
    throw error;
  }
}

/** Adds the registry of a table and its mirrors to `registries`. */
function addRegistry(
  table: TomlTable,
  mirrorTables: readonly TomlTable[],
  registries: Map<string, NodeRegistry>,
): void {
  const location = withoutSlash(textOf(table, 'location'));
  const prefix = withoutSlash(textOf(table, 'prefix')) || location;
  if (prefix === '') throw errorAt(table, 'a registry needs a location or a prefix');
  // Without a location, the images of a wildcard are pulled from the hosts that their names say.
  const isWildcard = prefix.startsWith('*.');
  if (location === '' && !isWildcard) throw errorAt(table, `the registry ${prefix} needs a location`);
  if (registries.has(prefix)) throw errorAt(table, `the registry ${prefix} is listed twice`);
  const digestsOnly = flagOf(table, 'mirror-by-digest-only');
  const mirrors = mirrorTables.map((mirror) => ({
    location: mirrorLocation(mirror),
    pulls: pullsOf(mirror, digestsOnly),
  }));
  const mirrorsFor = (kind: 'digest-only' | 'tag-only'): string[] =>
    mirrors.filter(({ pulls }) => pulls === 'all' || pulls === kind).map((mirror) => mirror.location);
  registries.set(prefix, {
    location: location === '' ? prefix : location,
    digestMirrors: mirrorsFor('digest-only'),
    tagMirrors: mirrorsFor('tag-only'),
    blocked: flagOf(table, 'blocked'),
  });
}

/**
 * The location of a mirror.
 *
 * @throws InvalidRegistriesConf without one, or for a URL
 */
function mirrorLocation(table: TomlTable): string {
  const location = withoutSlash(textOf(table, 'location'));
  if (location === '') throw errorAt(table, 'a mirror needs a location');
  if (/^https?:\/\//.test(location)) throw errorAt(table, `the location ${location} must not have a scheme`);
  return location;
}

/** What a mirror is used for; the registry may narrow all of its mirrors to digests. */
function pullsOf(table: TomlTable, digestsOnly: boolean): 'all' | 'digest-only' | 'tag-only' {
  const pulls = textOf(table, PULLS);
  // The runtime refuses any value of it here, even the same one.
  if (digestsOnly && pulls !== '')
    throw errorAt(table, `mirror-by-digest-only and ${PULLS} exclude each other`);
  if (digestsOnly) return 'digest-only';
  if (pulls === '') return 'all';
  if (pulls === 'all' || pulls === 'digest-only' || pulls === 'tag-only') return pulls;
  throw errorAt(table, `${PULLS} must be all, digest-only or tag-only, found ${pulls}`);
}

const PULLS = 'pull-from-mirror';

/**
 * The text of a key; empty without one.
 *
 * @throws InvalidRegistriesConf for another kind of value
 */
function textOf(table: TomlTable, key: string): string {
  const value = table.values.get(key) ?? '';
  if (typeof value === 'string') return value;
  throw errorAt(table, `${key} must be a text`);
}

/**
 * Whether a key is true; false without one.
 *
 * @throws InvalidRegistriesConf for another kind of value
 */
function flagOf(table: TomlTable, key: string): boolean {
  const value = table.values.get(key) ?? false;
  if (typeof value === 'boolean') return value;
  throw errorAt(table, `${key} must be true or false`);
}

function withoutSlash(location: string): string {
  return location.replace(/\/+$/, '');
}

function errorAt({ line }: TomlTable, message: string): InvalidRegistriesConf {
  return new InvalidRegistriesConf(message, line);
}
