/**
 * `registries.conf` of podman, CRI-O and skopeo, version 2: where images are looked for. Only the tables of registries
 * are read; what else a file may say (short names, credential helpers) does not matter for full names.
 *
 * @see https://github.com/containers/image/blob/main/docs/containers-registries.conf.5.md
 */
import type { NodeRegistry } from './node.ts';

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

// As much of TOML as configurations of containers have: tables, lists of tables, texts, numbers, booleans, and lists of
// texts over several lines. Everything else is an error, so that nothing is read as what it is not.
//
// @see https://toml.io/en/v1.0.0

interface TomlTable {
  /** `registry.mirror`; empty for what stands before the first table. */
  readonly name: string;
  /** Whether it is one of a list: `[[name]]`. */
  readonly isListed: boolean;
  readonly line: number;
  readonly values: ReadonlyMap<string, TomlValue>;
}

type TomlValue = string | boolean | number | readonly string[];

class TomlError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.name = 'TomlError';
    this.line = line;
  }
}

const NAME = /[A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*'/.source;
const HEADER = new RegExp(`^(\\[\\[?)\\s*((?:${NAME})(?:\\s*\\.\\s*(?:${NAME}))*)\\s*(\\]\\]?)\\s*$`);
const PAIR = new RegExp(`^(${NAME})\\s*=\\s*(.*)$`, 's');

/** The tables of a text, in its order. @throws TomlError */
function readTomlTables(text: string): TomlTable[] {
  const tables: (TomlTable & { values: Map<string, TomlValue> })[] = [
    { name: '', isListed: false, line: 1, values: new Map() },
  ];
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    let written = withoutComment(lines[i] ?? '').trim();
    if (written === '') continue;
    const header = HEADER.exec(written);
    if (header) {
      const [, open = '', names = '', shut = ''] = header;
      if (open.length !== shut.length) throw new TomlError(`${written} is not a table`, line);
      const name = names.replaceAll(/["'\s]/g, '');
      tables.push({ name, isListed: open === '[[', line, values: new Map() });
      continue;
    }
    const { values } = tables.at(-1) ?? { values: new Map() };
    // A list goes on until it is closed.
    while (/=\s*\[/.test(written) && !isClosed(written) && i + 1 < lines.length)
      written += ` ${withoutComment(lines[++i] ?? '').trim()}`;
    const [, key = '', rest = ''] = PAIR.exec(written) ?? [];
    if (key === '') throw new TomlError(`expected KEY = VALUE, found ${written}`, line);
    const name = key.replaceAll(/["']/g, '');
    if (values.has(name)) throw new TomlError(`${name} is set twice`, line);
    values.set(name, readValue(rest.trim(), line));
  }
  return tables;
}

/** A text without what follows `#` outside of quotes. */
function withoutComment(line: string): string {
  return /^(?:[^#"']|"(?:[^"\\]|\\.)*"|'[^']*'|["'])*/.exec(line)?.[0] ?? '';
}

/** Whether a list ends in what was read of it: a bracket in a text does not count. */
function isClosed(written: string): boolean {
  return written.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '').includes(']');
}

/**
 * A value: true or false, a whole number, a list of texts, or a text.
 *
 * @throws TomlError
 */
function readValue(text: string, line: number): TomlValue {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  if (/^\[.*\]$/s.test(text)) return listOf(text.slice(1, -1), line);
  return tomlText(text, line);
}

/** The texts of a list, read from what is between its brackets. @throws TomlError */
function listOf(inner: string, line: number): string[] {
  const found: string[] = [];
  let rest = inner.trim();
  while (rest !== '') {
    const [item = ''] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*')/.exec(rest) ?? [];
    if (item === '') throw new TomlError(`expected a list of texts, found ${rest}`, line);
    found.push(tomlText(item, line));
    const after = rest.slice(item.length).trim();
    if (after !== '' && !after.startsWith(',')) throw new TomlError(`expected a comma, found ${after}`, line);
    rest = after.slice(1).trim();
  }
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', n: '\n', t: '\t', r: '\r' };

/**
 * A text without its quotes; escapes count only between double ones.
 *
 * @throws TomlError
 */
function tomlText(text: string, line: number): string {
  const [, literal] = /^'([^']*)'$/.exec(text) ?? [];
  if (literal !== undefined) return literal;
  const [, basic] = /^"((?:[^"\\]|\\.)*)"$/.exec(text) ?? [];
  if (basic === undefined) throw new TomlError(`cannot read the value ${text}`, line);
  return basic.replaceAll(/\\(.)/g, (_, letter: string) => {
    const meant = ESCAPES[letter];
    if (meant === undefined) throw new TomlError(`unknown escape \\${letter}`, line);
    return meant;
  });
}
