/**
 * The productions of go-yaml's grammar that read collections. Each is a generator that
 * asks for its nodes one by one, saying where they stand, so that the depth of a
 * document is not a depth of calls.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/parserc.go
 */
import type { Scanner } from './scanner.ts';
import type { Token } from './token.ts';
import { YamlError, type YamlMapping, type YamlNode, type YamlPair, type YamlScalar } from './tree.ts';

/**
 * What may stand at a place: in a block a collection by indentation, as a value of a
 * block mapping also a list that is not indented, in a flow collection neither.
 */
export type Place = 'block' | 'value' | 'flow';

/** Asks for the nodes of a collection one by one, and adds each to it. */
export type Filling = Generator<Place, void, YamlNode>;

export type Kinds = ReadonlySet<Token['kind']>;

// The tokens that mean, where a node could begin, that there is none: it is empty.
const NO_BLOCK_ITEM: Kinds = new Set(['block-entry', 'block-end']);
const NO_LIST_ITEM: Kinds = new Set(['block-entry', 'key', 'value', 'block-end']);
const NO_BLOCK_NODE: Kinds = new Set(['key', 'value', 'block-end']);
const NO_PAIR_KEY: Kinds = new Set(['value', 'flow-entry', 'flow-sequence-end']);
const NO_PAIR_VALUE: Kinds = new Set(['flow-entry', 'flow-sequence-end']);
const NO_FLOW_KEY: Kinds = new Set(['value', 'flow-entry', 'flow-mapping-end']);
const NO_FLOW_VALUE: Kinds = new Set(['flow-entry', 'flow-mapping-end']);

/** Reads the items of a block list into `items`. Yields for each item that must be read, and gets its node. */
export function* blockItems(scanner: Scanner, items: YamlNode[]): Filling {
  scanner.take();
  while (scanner.peek().kind === 'block-entry') {
    const end = scanner.take();
    items.push(NO_BLOCK_ITEM.has(scanner.peek().kind) ? emptyScalar(end) : yield 'block');
  }
  const token = scanner.peek();
  if (token.kind !== 'block-end') {
    const context = ': the indentation fits neither this list nor what is around it';
    refuse("did not find expected '-' indicator", context, token);
  }
  scanner.take();
}

/** The items of a list that stands at the column of the key it belongs to. */
export function* listItems(scanner: Scanner, items: YamlNode[]): Filling {
  while (scanner.peek().kind === 'block-entry') {
    const end = scanner.take();
    items.push(NO_LIST_ITEM.has(scanner.peek().kind) ? emptyScalar(end) : yield 'block');
  }
}

/**
 * Reads the pairs of a block mapping into `pairs`. Yields for each key and value that must be read, and gets its node.
 */
export function* blockPairs(scanner: Scanner, pairs: YamlPair[]): Filling {
  scanner.take();
  while (scanner.peek().kind === 'key') {
    const keyEnd = scanner.take();
    const key = NO_BLOCK_NODE.has(scanner.peek().kind) ? emptyScalar(keyEnd) : yield 'value';
    let value: YamlNode;
    if (scanner.peek().kind === 'value') {
      const colonEnd = scanner.take();
      value = NO_BLOCK_NODE.has(scanner.peek().kind) ? emptyScalar(colonEnd) : yield 'value';
    } else value = emptyScalar(scanner.peek().start);
    pairs.push({ key, value });
  }
  const token = scanner.peek();
  if (token.kind !== 'block-end') {
    const context = ': the indentation fits neither this mapping nor what is around it';
    refuse('did not find expected key', context, token);
  }
  scanner.take();
}

/** Reads the items of a flow list into `items`. Yields for each item that must be read, and gets its node. */
export function* flowItems(scanner: Scanner, items: YamlNode[]): Filling {
  const open = scanner.peek();
  scanner.take();
  for (let first = true; hasMore(scanner, 'flow-sequence-end', first, open); first = false) {
    const token = scanner.peek();
    if (token.kind === 'key') {
      const pair: YamlMapping = { kind: 'mapping', start: token.start, pairs: [] };
      items.push(pair);
      yield* flowPair(scanner, pair.pairs);
    } else items.push(yield 'flow');
  }
}

/** A mapping of one pair, written without braces inside a list: `[key: value]`. */
function* flowPair(scanner: Scanner, pairs: YamlPair[]): Filling {
  scanner.take();
  // go-yaml loses the token behind an empty key.
  const key = NO_PAIR_KEY.has(scanner.peek().kind) ? emptyScalar(scanner.take()) : yield 'flow';
  const value = takesValue(scanner, NO_PAIR_VALUE) ? yield 'flow' : emptyScalar(scanner.peek().start);
  pairs.push({ key, value });
}

/** Reads the pairs of a flow mapping into `pairs`. Yields for each key and value that must be read, and gets its node. */
export function* flowPairs(scanner: Scanner, pairs: YamlPair[]): Filling {
  const open = scanner.peek();
  scanner.take();
  for (let first = true; hasMore(scanner, 'flow-mapping-end', first, open); first = false) {
    const token = scanner.peek();
    if (token.kind === 'key') {
      scanner.take();
      const next = scanner.peek();
      const key = NO_FLOW_KEY.has(next.kind) ? emptyScalar(next.start) : yield 'flow';
      const value = takesValue(scanner, NO_FLOW_VALUE) ? yield 'flow' : emptyScalar(scanner.peek().start);
      pairs.push({ key, value });
    } else {
      const key = yield 'flow';
      pairs.push({ key, value: emptyScalar(scanner.peek().start) });
    }
  }
}

/**
 * Whether another entry of a flow collection follows; passes the comma before it, or the bracket at the end.
 *
 * @param first whether it would be the first entry, which has no comma before it
 */
function hasMore(
  scanner: Scanner,
  end: 'flow-sequence-end' | 'flow-mapping-end',
  first: boolean,
  open: Token,
): boolean {
  let token = scanner.peek();
  if (token.kind !== end && !first) {
    if (token.kind !== 'flow-entry') {
      const bracket = end === 'flow-sequence-end' ? ']' : '}';
      refuse(`did not find expected ',' or '${bracket}'`, '', token, open.start);
    }
    scanner.take();
    token = scanner.peek();
  }
  if (token.kind !== end) return true;
  scanner.take();
  return false;
}

/** Whether a colon and a node follow; passes the colon. */
function takesValue(scanner: Scanner, none: Kinds): boolean {
  if (scanner.peek().kind !== 'value') return false;
  scanner.take();
  return !none.has(scanner.peek().kind);
}

export function emptyScalar(start: number): YamlScalar {
  return { kind: 'scalar', start, text: '', plain: true, tag: '' };
}

/**
 * Refuses the document at a token, as go-yaml's parser does: it counts lines from 0.
 *
 * @param problem go-yaml's words
 * @param context ours
 * @param offset where to look, when that is not at the token
 */
export function refuse(problem: string, context: string, token: Token, offset: number = token.start): never {
  const where = token.line > 0 ? `line ${token.line}: ` : '';
  throw new YamlError(`${problem}${context}`, offset, `yaml: ${where}${problem}`);
}
