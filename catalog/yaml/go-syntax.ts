/**
 * Nodes as Go's `%#v` prints what go-yaml decodes them into, for the messages in which
 * the Go tools show a value: `map[interface {}]interface {}{".Values.x":interface {}(nil)}`
 * is what a template that nobody rendered looks like.
 *
 * @see https://pkg.go.dev/fmt
 */

import { compareText, goQuoted } from '../go/text.ts';
import { isMerge, resolveScalar } from './resolve.ts';
import { formatG, integerText } from './scalar.ts';
import type { YamlMapping, YamlNode, YamlScalar } from './tree.ts';

export function goSyntax(node: YamlNode): string {
  switch (node.kind) {
    case 'alias':
      return goSyntax(node.target);
    case 'scalar':
      return scalarSyntax(node);
    case 'sequence':
      return `[]interface {}{${node.items.map(goSyntax).join(', ')}}`;
    case 'mapping': {
      const entries = new Map<string, string>();
      collect(node, entries);
      const text = [...entries]
        .sort(([a], [b]) => compareKeys(a, b))
        .map(([key, value]) => `${key}:${value}`);
      return `map[interface {}]interface {}{${text.join(', ')}}`;
    }
  }
}

/**
 * Adds the pairs of a mapping to `entries`. go-yaml merges at the place of the key: later pairs win, and of several
 * sources the first.
 */
function collect(mapping: YamlMapping, entries: Map<string, string>): void {
  for (const { key, value } of mapping.pairs) {
    if (!isMerge(key)) {
      entries.set(goSyntax(key), goSyntax(value));
      continue;
    }
    for (const source of value.kind === 'sequence' ? value.items.toReversed() : [value]) {
      const merged = source.kind === 'alias' ? source.target : source;
      if (merged.kind === 'mapping') collect(merged, entries);
    }
  }
}

const NIL = 'interface {}(nil)';

/** Go puts nil first; how it orders other types among each other differs between programs. */
function compareKeys(a: string, b: string): number {
  const rank = (key: string): number => (key === NIL ? 0 : key.startsWith('"') ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return rank(a) === 1 ? compareText(a.slice(0, -1), b.slice(0, -1)) : Number(a) - Number(b);
}

function scalarSyntax(node: YamlScalar): string {
  const { kind, value } = resolveScalar(node);
  if (value === null) return NIL;
  if (typeof value === 'string') return goQuoted(value);
  if (typeof value === 'boolean') return String(value);
  if (kind === 'int') return integerSyntax(integerText(node.text));
  return Number.isFinite(value) ? formatG(value) : goNotFinite(value);
}

/** Integers beyond an int64 are unsigned to go-yaml, and Go shows those in hexadecimal. */
export function integerSyntax(digits: string): string {
  return BigInt(digits) >= 2n ** 63n ? `0x${BigInt(digits).toString(16)}` : digits;
}

/** How Go prints NaN and infinities. */
export function goNotFinite(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
