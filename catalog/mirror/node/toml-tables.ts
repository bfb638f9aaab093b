/**
 * As much of TOML as configurations of containers have: tables, lists of tables, texts, numbers, booleans, and lists of
 * texts over several lines. Everything else is an error, so that nothing is read as what it is not.
 *
 * @see https://toml.io/en/v1.0.0
 */

export interface TomlTable {
  /** `registry.mirror`; empty for what stands before the first table. */
  readonly name: string;
  /** Whether it is one of a list: `[[name]]`. */
  readonly isListed: boolean;
  readonly line: number;
  readonly values: ReadonlyMap<string, TomlValue>;
}

type TomlValue = string | boolean | number | readonly string[];

export class TomlError extends Error {
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
export function readTomlTables(text: string): TomlTable[] {
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
  return textOf(text, line);
}

/** The texts of a list, read from what is between its brackets. @throws TomlError */
function listOf(inner: string, line: number): string[] {
  const found: string[] = [];
  let rest = inner.trim();
  while (rest !== '') {
    const [item = ''] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*')/.exec(rest) ?? [];
    if (item === '') throw new TomlError(`expected a list of texts, found ${rest}`, line);
    found.push(textOf(item, line));
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
function textOf(text: string, line: number): string {
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
