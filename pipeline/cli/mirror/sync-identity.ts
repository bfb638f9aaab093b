/** Which configuration a sync is of: the directory of its files remembers it. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isObject } from '../../../catalog/go/shape.ts';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Identity } from '../../mirror/sync-records.ts';
import type { Terminal } from '../../terminal.ts';
import { writeFiles } from '../../write.ts';
import type { Invocation } from '../command.ts';

/** Ids by the name of a configuration, or by its file as seen from the directory. */
const FILE = 'configurations.json';

/** Two configurations may share the directory, and one may be moved with it. */
function keyOf(folder: string, { operands: [file = ''], text }: Invocation, terminal: Terminal): string {
  return text('name') ?? relative(folder, resolve(terminal.directory, file));
}

/** @throws PipelineError `usage` for a file of ids that cannot be read */
export function identityIn(folder: string, invocation: Invocation, terminal: Terminal): Identity {
  const { operands, text } = invocation;
  const name = text('name') ?? operands[0] ?? '';
  const id = idsIn(folder).get(keyOf(folder, invocation, terminal)) ?? randomUUID();
  return { id, name, isNamed: text('name') !== undefined };
}

export function rememberIdentity(
  folder: string,
  { id }: Identity,
  { invocation, terminal }: { readonly invocation: Invocation; readonly terminal: Terminal },
): void {
  const ids = new Map(idsIn(folder)).set(keyOf(folder, invocation, terminal), id);
  writeFiles(folder, new Map([[FILE, `${JSON.stringify(Object.fromEntries(ids), null, 2)}\n`]]));
}

function idsIn(folder: string): ReadonlyMap<string, string> {
  const path = join(folder, FILE);
  if (!existsSync(path)) return new Map();
  try {
    const value: unknown = JSON.parse(readText(path));
    const entries = isObject(value) ? Object.entries(value) : [];
    const ids = entries.flatMap(([key, id]) => (isId(id) ? [[key, id] as const] : []));
    if (isObject(value) && ids.length === entries.length) return new Map(ids);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new PipelineError('usage', `${path} does not contain the ids of configurations`, {
    hint: 'restore it: with another id, a configuration counts as another one',
  });
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value);
}
