/**
 * Regular expressions as Go's `regexp` reads them, matched in time that is linear in the text: all ways through one are
 * gone together, so that nobody who writes one can make a match take long. What is rare is not read.
 *
 * @see https://github.com/google/re2/wiki/Syntax
 */

export interface Expression {
  /** How many steps a match takes for each character, at most. */
  readonly size: number;
  /** Whether any part of a text matches. */
  test(text: string): boolean;
}

/** Longest expression that is read, in characters, and its largest size. */
const LONGEST = 500;
const LARGEST = 1000;

type Node =
  | { readonly kind: 'character'; readonly is: RegExp }
  | { readonly kind: 'place'; readonly is: (text: readonly string[], at: number) => boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly of: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly least: number; readonly most: number };

/** Reads an expression; undefined for one that Go refuses, that is too large, or that has anything rare in it. */
export function readExpression(source: string): Expression | undefined {
  const [before = '', flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? [];
  if (source.length > LONGEST) return undefined;
  const reader = readerOf(source.slice(before.length), flags);
  const root = reader.choice();
  if (!root || !reader.isDone()) return undefined;
  const size = sizeOf(root) + 1;
  if (size > LARGEST) return undefined;
  const start = stateOf(root, { kind: 'end' });
  return { size, test: (text) => matches(start, [...text]) };
}

interface Reader {
  choice(): Node | undefined;
  isDone(): boolean;
}

const ATOM =
  /\\[dDwWsS]|\\[tnrfv]|\\x[0-9A-Fa-f]{2}|\\[pP]\{\w+\}|\[\^?(?!\^|\])(?:\\.|\[(?!:)|[^\]\\[])+\]|\./uy;
const REPEAT = /(?:([*+?])|\{(\d+)(,(\d*))?\})(\??)(?![*+?]|\{\d)/uy;
const GROUP = /\((?:\?:|\?P?<\w+>|(?!\?))/uy;
const PLACE = /[$^]|\\[AzbB]/uy;
const LITERAL = /\\([^\w\s])|([^\\^$.|?*+()[])/uy;

function readerOf(source: string, flags: string): Reader {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at = pattern.lastIndex;
    return found ?? undefined;
  };
  const choice = (): Node | undefined => {
    const of: Node[] = [];
    do {
      const one = sequence();
      if (!one) return undefined;
      of.push(one);
    } while (source[at] === '|' && ++at);
    return of.length === 1 ? of[0] : { kind: 'choice', of };
  };
  const sequence = (): Node | undefined => {
    const of: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const place = take(PLACE);
      const one = place ? placeOf(place[0], flags) : repeated();
      if (!one) return undefined;
      of.push(one);
    }
    return { kind: 'sequence', of };
  };
  const repeated = (): Node | undefined => {
    const of = single();
    const found = of && take(REPEAT);
    if (!of || !found) return of;
    const [, sign, least = '', more, most = ''] = found;
    if (sign !== undefined)
      return { kind: 'repeat', of, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
    const [from, to] = [
      Number(least),
      more === undefined ? Number(least) : most === '' ? Infinity : Number(most),
    ];
    return from <= to ? { kind: 'repeat', of, least: from, most: to } : undefined;
  };
  const single = (): Node | undefined => {
    if (take(GROUP)) {
      const inside = choice();
      return inside && source[at++] === ')' ? inside : undefined;
    }
    const atom = take(ATOM)?.[0];
    if (atom !== undefined) return characterOf(atom, flags);
    const [, escaped, plain] = take(LITERAL) ?? [];
    const literal = escaped ?? plain;
    return literal === undefined
      ? undefined
      : characterOf(literal.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&'), flags);
  };
  return { choice, isDone: () => at === source.length };
}

/** One character; undefined where JavaScript does not know the class. */
function characterOf(source: string, flags: string): Node | undefined {
  try {
    return { kind: 'character', is: new RegExp(`^${source}$`, `u${flags.replace('m', '')}`) };
  } catch {
    return undefined;
  }
}

function placeOf(source: string, flags: string): Node {
  const lines = flags.includes('m');
  const isWord = (text: readonly string[], at: number): boolean => /^\w$/.test(text[at] ?? '');
  const isEdge = (text: readonly string[], at: number): boolean => isWord(text, at - 1) !== isWord(text, at);
  switch (source) {
    case '^':
      return { kind: 'place', is: (text, at) => at === 0 || (lines && text[at - 1] === '\n') };
    case '$':
      return { kind: 'place', is: (text, at) => at === text.length || (lines && text[at] === '\n') };
    case '\\A':
      return { kind: 'place', is: (_, at) => at === 0 };
    case '\\z':
      return { kind: 'place', is: (text, at) => at === text.length };
    case '\\b':
      return { kind: 'place', is: isEdge };
    default:
      return { kind: 'place', is: (text, at) => !isEdge(text, at) };
  }
}

function sizeOf(node: Node): number {
  switch (node.kind) {
    case 'character':
    case 'place':
      return 1;
    case 'sequence':
    case 'choice':
      return node.of.reduce((sum, one) => sum + sizeOf(one), 1);
    case 'repeat':
      return (sizeOf(node.of) + 1) * Math.max(1, node.most === Infinity ? node.least + 1 : node.most);
  }
}

type State =
  | { readonly kind: 'character'; readonly is: RegExp; readonly next: State }
  | {
      readonly kind: 'place';
      readonly is: (text: readonly string[], at: number) => boolean;
      readonly next: State;
    }
  | { readonly kind: 'fork'; readonly to: readonly State[] }
  | { readonly kind: 'end' };

function stateOf(node: Node, next: State): State {
  switch (node.kind) {
    case 'character':
    case 'place':
      return { ...node, next };
    case 'sequence':
      return node.of.reduceRight((after, one) => stateOf(one, after), next);
    case 'choice':
      return { kind: 'fork', to: node.of.map((one) => stateOf(one, next)) };
    case 'repeat':
      return repeatOf(node, next);
  }
}

function repeatOf({ of, least, most }: Extract<Node, { kind: 'repeat' }>, next: State): State {
  let state = next;
  if (most === Infinity) {
    const to: State[] = [next];
    state = { kind: 'fork', to };
    to.push(stateOf(of, state));
  } else for (let i = least; i < most; i++) state = { kind: 'fork', to: [next, stateOf(of, state)] };
  for (let i = 0; i < least; i++) state = stateOf(of, state);
  return state;
}

function matches(start: State, text: readonly string[]): boolean {
  let states: readonly State[] = [];
  for (let at = 0; at <= text.length; at++) {
    const seen = new Set<State>();
    const waiting: State[] = [start, ...states];
    const next: State[] = [];
    for (let state = waiting.pop(); state; state = waiting.pop()) {
      if (seen.has(state)) continue;
      seen.add(state);
      if (state.kind === 'end') return true;
      if (state.kind === 'fork') waiting.push(...state.to);
      else if (state.kind === 'place') {
        if (state.is(text, at)) waiting.push(state.next);
      } else if (at < text.length && state.is.test(text[at] ?? '')) next.push(state.next);
    }
    states = next;
  }
  return false;
}
