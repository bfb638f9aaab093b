/**
 * From YAML text to a tree, as the parser of go-yaml v2 builds it out of its scanner's
 * tokens: any document that Go's tools read is read, with the same meaning, and what
 * they refuse is refused for the same reason.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/parserc.go
 * @see docs/adr/0003-yaml-reader.md
 */

import { DEEPEST } from '../json.ts';
import {
  blockItems,
  blockPairs,
  emptyScalar,
  type Filling,
  flowItems,
  flowPairs,
  type Kinds,
  listItems,
  type Place,
  refuse,
} from './collection.ts';
import { Cursor, END, isBreak } from './cursor.ts';
import { Scanner } from './scanner.ts';
import type { Token } from './token.ts';
import {
  YamlError,
  type YamlLimits,
  type YamlMapping,
  type YamlNode,
  type YamlScalar,
  type YamlSequence,
  type YamlTree,
} from './tree.ts';

/** What go-yaml's reader refuses anywhere; it lets U+0085 and U+FEFF pass. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/**
 * Reads the first document of `text`, as Go's `yaml.Unmarshal` does, by default nested as deeply as {@link DEEPEST}.
 *
 * @throws YamlError when Go would refuse the document, or when it goes beyond a limit
 */
export function readTree(text: string, limits: YamlLimits = { depth: DEEPEST }): YamlTree {
  const forbidden = FORBIDDEN.exec(text);
  if (forbidden) {
    const code = forbidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const problem = 'control characters are not allowed';
    throw new YamlError(`${problem}: found U+${code}`, forbidden.index, `yaml: ${problem}`);
  }
  const parser = new Parser(text, limits);
  const root = parser.document();
  const ignored = parser.rest();
  return { root, ignoredFrom: ignored < 0 ? -1 : findText(text, ignored) };
}

/** Where something else than white space, comments and end markers stands at or behind `from`; -1 if nowhere. */
function findText(text: string, from: number): number {
  const cursor = new Cursor(text);
  cursor.at = from;
  for (;;) {
    cursor.skipBlanks();
    cursor.skipComment();
    const c = cursor.peek();
    if (isBreak(c)) cursor.passBreak();
    else if (c === 46 /* . */ && cursor.atMarker()) cursor.at += 3;
    else return c === END ? -1 : cursor.at;
  }
}

const NO_CONTENT: Kinds = new Set(['directive', 'document-start', 'document-end', 'stream-end']);

type TagToken = Token & { readonly kind: 'tag' };

/** What stands before a node; empty texts for nothing. */
interface Properties {
  readonly anchor: string;
  /** In full. */
  readonly tag: string;
}

/** A node, and for a collection what reads its content. */
interface Begun {
  readonly node: YamlNode;
  readonly filling?: Filling;
}

/** Builds the nodes of the first document. */
class Parser {
  readonly #scanner: Scanner;
  readonly #depthLimit: number;
  /** How many aliases may still come. */
  #aliases: number;
  readonly #nodes: { left: number };
  readonly #plain: boolean;
  readonly #anchors = new Map<string, YamlNode>();
  /** What handles of tags stand for. */
  readonly #prefixes = new Map<string, string>();

  constructor(
    text: string,
    { depth, aliases = Infinity, nodes = { left: Infinity }, plain = false }: YamlLimits,
  ) {
    this.#nodes = nodes;
    this.#scanner = new Scanner(text);
    this.#depthLimit = Math.min(depth, DEEPEST);
    this.#aliases = aliases;
    this.#plain = plain;
  }

  /** The next document; undefined at the end of the stream. */
  document(): YamlNode | undefined {
    const first = this.#peek().kind;
    if (first === 'stream-end') return undefined;
    this.#directives();
    if (first !== 'directive' && first !== 'document-start') return this.#node('block');
    const start = this.#peek();
    if (start.kind !== 'document-start') {
      refuse('did not find expected <document start>', ': directives end with a line of ---', start);
    }
    this.#scanner.take();
    const token = this.#peek();
    return NO_CONTENT.has(token.kind) ? emptyScalar(token.start) : this.#node('block');
  }

  /** Where the text behind the document begins, -1 when there is none. As in go-yaml, the next token must be one. */
  rest(): number {
    const token = this.#peek();
    if (token.kind === 'stream-end') return -1;
    return token.kind === 'document-end' ? token.end : Math.max(token.start, this.#scanner.end);
  }

  #peek(): Token {
    return this.#scanner.peek();
  }

  /** Reads directives, as go-yaml does: only YAML 1.1. */
  #directives(): void {
    let versions = 0;
    for (let token = this.#peek(); token.kind === 'directive'; token = this.#peek()) {
      const { directive } = token;
      if (directive.kind === 'tag') {
        if (this.#prefixes.has(directive.handle)) refuse('found duplicate %TAG directive', '', token);
        this.#prefixes.set(directive.handle, directive.prefix);
      } else {
        if (versions++ > 0) refuse('found duplicate %YAML directive', '', token);
        if (directive.major !== 1 || directive.minor !== 1) {
          const version = `${directive.major}.${directive.minor}`;
          refuse('found incompatible YAML document', ` of version ${version}: the tools read 1.1`, token);
        }
      }
      this.#scanner.take();
    }
    if (!this.#prefixes.has('!')) this.#prefixes.set('!', '!');
    if (!this.#prefixes.has('!!')) this.#prefixes.set('!!', 'tag:yaml.org,2002:');
  }

  /** Reads a node with everything in it. Open collections are on a list of its own: depth costs no stack. */
  #node(place: Place): YamlNode {
    const open: Required<Begun>[] = [];
    let begun = this.#begin(place);
    for (;;) {
      let complete: YamlNode | undefined;
      if (begun.filling) {
        if (open.length >= this.#depthLimit) this.#failTooDeep(begun.node);
        open.push({ node: begun.node, filling: begun.filling });
      } else complete = begun.node;
      const wanted = this.#fill(open, complete);
      if (typeof wanted !== 'string') return wanted;
      begun = this.#begin(wanted);
    }
  }

  /**
   * Hands a complete node to the innermost open collection, and that to the one around
   * it when it is complete by that, until a collection wants another node or the
   * outermost is complete.
   */
  #fill(open: Required<Begun>[], complete: YamlNode | undefined): Place | YamlNode {
    let node = complete;
    for (;;) {
      const innermost = open[open.length - 1];
      if (!innermost) return node!;
      // What the first call passes goes nowhere: the generator has not asked yet.
      const step = innermost.filling.next(node!);
      if (step.done !== true) return step.value;
      node = innermost.node;
      open.pop();
    }
  }

  #failTooDeep(node: YamlNode): never {
    throw new YamlError(`collections are nested deeper than ${this.#depthLimit} levels`, node.start);
  }

  /** Reads a scalar, or what stands before the content of a collection. */
  #begin(place: Place): Begun {
    const first = this.#peek();
    if (--this.#nodes.left < 0) throw new YamlError('more values than are allowed', first.start);
    if (this.#plain) refuseUnlessPlain(first);
    if (first.kind === 'alias') return { node: this.#alias(first.name, first.start) };
    const properties = this.#properties();
    const token = this.#peek();
    switch (token.kind) {
      case 'scalar':
        this.#scanner.take();
        return { node: this.#scalar(token, properties) };
      case 'flow-sequence':
      case 'flow-mapping':
        return this.#collection(token, properties);
      case 'block-sequence':
      case 'block-mapping':
        if (place !== 'flow') return this.#collection(token, properties);
        break;
      case 'block-entry':
        // A list at the column of the key that it belongs to.
        if (place === 'value') return this.#collection(token, properties);
    }
    if (properties.anchor === '' && properties.tag === '') {
      refuse('did not find expected node content', '', token);
    }
    return { node: this.#scalar({ start: first.start, text: '', plain: true }, properties) };
  }

  /** The alias of an anchor before it. */
  #alias(name: string, start: number): YamlNode {
    const target = this.#anchors.get(name);
    if (!target) {
      throw new YamlError(
        `unknown anchor "${name}": an alias must follow its anchor`,
        start,
        `yaml: unknown anchor '${name}' referenced`,
      );
    }
    if (--this.#aliases < 0) throw new YamlError('more aliases than are allowed', start);
    this.#scanner.take();
    return { kind: 'alias', start, name, target };
  }

  /** The anchor and the tag before a node, in either order. */
  #properties(): Properties {
    let anchor = '';
    let tag: TagToken | undefined;
    for (let token = this.#peek(); ; token = this.#peek()) {
      if (token.kind === 'anchor' && anchor === '') anchor = token.name;
      else if (token.kind === 'tag' && !tag) tag = token;
      else return { anchor, tag: tag ? this.#expandTag(tag) : '' };
      this.#scanner.take();
    }
  }

  /** A tag in full: its handle stands for a prefix. */
  #expandTag(token: TagToken): string {
    const { handle, suffix } = token.tag;
    if (handle === '') return suffix;
    const prefix = this.#prefixes.get(handle);
    if (prefix === undefined) refuse('found undefined tag handle', ` ${handle}`, token);
    return prefix + suffix;
  }

  #remember<Node extends YamlNode>(node: Node, anchor: string): Node {
    if (anchor !== '') this.#anchors.set(anchor, node);
    return node;
  }

  #scalar(
    { start, text, plain }: Pick<YamlScalar, 'start' | 'text' | 'plain'>,
    { anchor, tag }: Properties,
  ): YamlNode {
    // As in go-yaml, the tag `!` makes the text decide, even a quoted one.
    const isPlain = tag === '' ? plain : tag === '!';
    return this.#remember({ kind: 'scalar', start, text, plain: isPlain, tag }, anchor);
  }

  /**
   * A collection without content, and what reads the content. A list at the column of its key has no token of its own.
   */
  #collection({ kind, start }: Token, { anchor }: Properties): Begun {
    const scanner = this.#scanner;
    if (kind === 'flow-mapping' || kind === 'block-mapping') {
      const node = this.#remember<YamlMapping>({ kind: 'mapping', start, pairs: [] }, anchor);
      const fill = kind === 'flow-mapping' ? flowPairs : blockPairs;
      return { node, filling: fill(scanner, node.pairs) };
    }
    const node = this.#remember<YamlSequence>({ kind: 'sequence', start, items: [] }, anchor);
    const fill = kind === 'flow-sequence' ? flowItems : kind === 'block-sequence' ? blockItems : listItems;
    return { node, filling: fill(scanner, node.items) };
  }
}

/** What makes a document mean something else to other readers of YAML. */
function refuseUnlessPlain(token: Token): void {
  const { kind, start } = token;
  if (kind === 'tag') throw new YamlError('a tag is not allowed here', start);
  if (kind === 'anchor' || kind === 'alias') throw new YamlError(`an ${kind} is not allowed here`, start);
  if (kind === 'scalar' && token.plain && token.text === '<<')
    throw new YamlError('a merge key is not allowed here', start);
}
