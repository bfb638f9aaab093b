/**
 * From YAML text to tokens, as the scanner of go-yaml v2 makes them: indentation
 * becomes tokens that open and close blocks, and a key without `?` is known only when
 * its colon is found, so tokens wait in a queue until nothing can be put before them.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/scannerc.go
 */
import { Cursor, END, isBlank, isBlankOrEnd, isBreak } from './cursor.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-property.ts';
import { scanBlock, scanPlain, scanQuoted } from './scan-scalar.ts';
import { type Mark, type SimpleKey, SimpleKeys, type Token, TokenQueue } from './token.ts';

/** Go's limits for nested flow collections and for nested blocks. */
const MAX_NESTING = 10_000;

const TAB = 9;
const SPACE = 32;
const MINUS = 45;

/** The tokens of one text, made as they are asked for. */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #queue = new TokenQueue();
  readonly #keys: SimpleKeys;
  /** Whether nothing can come before the token at the head of the queue. */
  #ready = false;
  #end = 0;
  /** Column of the innermost block collection, and of those around it. */
  #indent = -1;
  readonly #indents: number[] = [];
  #flowDepth = 0;
  /** Whether a key without `?` may begin at the cursor. */
  #keyAllowed = true;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
    this.#keys = new SimpleKeys(this.#cursor);
  }

  /** The next token, which stays the next. */
  peek(): Token {
    while (!this.#ready) {
      if (this.#queue.head && !this.#keys.mayBeginAt(this.#queue.headNumber)) this.#ready = true;
      else this.#fetchToken();
    }
    return this.#queue.head!;
  }

  /** Takes the token that was peeked at, and returns where it ends. */
  take(): number {
    this.#end = this.peek().end;
    this.#ready = false;
    this.#queue.shift();
    return this.#end;
  }

  /** Where the last token that was taken ends. */
  get end(): number {
    return this.#end;
  }

  /** Notes that a key may begin here. At the column of a block mapping nothing else can. */
  #saveKey(): void {
    if (!this.#keyAllowed) return;
    const required = this.#flowDepth === 0 && this.#indent === this.#cursor.column;
    this.#keys.save(this.#queue.nextNumber, required);
  }

  /** Puts a token that stretches from `start` to the cursor at the end of the queue. */
  #mark(kind: Mark, start: number, line: number = this.#cursor.line): void {
    this.#queue.push({ kind, start, end: this.#cursor.at, line });
  }

  /** Passes an indicator and puts its token at the end of the queue. */
  #indicator(kind: Mark, length: number): void {
    const start = this.#cursor.at;
    this.#cursor.at += length;
    this.#mark(kind, start);
  }

  /** Puts a token before the one that begins a key. */
  #insert(kind: Mark, key: SimpleKey): void {
    this.#queue.insert({ kind, start: key.at, end: key.at, line: key.line }, key.token);
  }

  /** Opens a block collection unless one is open at that column. */
  #openBlock(kind: 'block-sequence' | 'block-mapping', key?: SimpleKey): void {
    const column = key?.column ?? this.#cursor.column;
    if (this.#flowDepth > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > MAX_NESTING) this.#failTooDeep();
    if (key) this.#insert(kind, key);
    else this.#mark(kind, this.#cursor.at);
  }

  /** Closes the block collections that stand to the right of `column`. */
  #closeBlocks(column: number): void {
    if (this.#flowDepth > 0) return;
    while (this.#indent > column) {
      this.#mark('block-end', this.#cursor.at);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #failTooDeep(): never {
    this.#cursor.fail(`exceeded max depth of ${MAX_NESTING}`, ' of nested collections');
  }

  /** Scans the next token, with those that must come before it. */
  #fetchToken(): void {
    const cursor = this.#cursor;
    this.#passToToken();
    this.#closeBlocks(cursor.column);
    const c = cursor.peek();
    if (c === END) this.#fetchStreamEnd();
    else if (c === 37 /* % */ && cursor.column === 0) this.#fetchDirective();
    else if (cursor.atMarker()) {
      this.#leaveBlocks();
      this.#indicator(c === MINUS ? 'document-start' : 'document-end', 3);
    } else if (!this.#fetchIndicator(c) && !this.#fetchNode(c)) this.#fetchPlain(c);
  }

  /** Passes white space, line breaks and comments. */
  #passToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      let c = cursor.peek();
      // YAML forbids tabs that would indent a key.
      while (c === SPACE || (c === TAB && (this.#flowDepth > 0 || !this.#keyAllowed))) {
        cursor.at++;
        c = cursor.peek();
      }
      cursor.skipComment();
      if (!isBreak(cursor.peek())) return;
      cursor.passBreak();
      if (this.#flowDepth === 0) this.#keyAllowed = true;
    }
  }

  /** Adds the token for the end of the text, with those that close what is open. */
  #fetchStreamEnd(): void {
    const cursor = this.#cursor;
    if (cursor.column > 0) {
      // As in go-yaml, the end stands on a line of its own.
      cursor.line++;
      cursor.lineStart = cursor.at;
    }
    this.#leaveBlocks();
    this.#mark('stream-end', cursor.at);
  }

  /** Ends all block collections: here a document begins or ends. */
  #leaveBlocks(): void {
    this.#closeBlocks(-1);
    this.#keys.remove();
    this.#keyAllowed = false;
  }

  /** Adds a directive, which ends everything before it. */
  #fetchDirective(): void {
    this.#leaveBlocks();
    const { at: start, line } = this.#cursor;
    const directive = scanDirective(this.#cursor);
    this.#queue.push({ kind: 'directive', directive, start, end: this.#cursor.at, line });
  }

  /** Fetches a token that is a single character; false when none begins here. */
  #fetchIndicator(c: number): boolean {
    switch (c) {
      case 91 /* [ */:
        return this.#fetchFlowStart('flow-sequence');
      case 123 /* { */:
        return this.#fetchFlowStart('flow-mapping');
      case 93 /* ] */:
        return this.#fetchFlowEnd('flow-sequence-end');
      case 125 /* } */:
        return this.#fetchFlowEnd('flow-mapping-end');
      case 44 /* , */:
        this.#keys.remove();
        this.#keyAllowed = true;
        this.#indicator('flow-entry', 1);
        return true;
      case MINUS:
        return isBlankOrEnd(this.#cursor.peek(1)) && this.#fetchBlockEntry();
      case 63 /* ? */:
        return this.#standsAlone() && this.#fetchKey();
      case 58 /* : */:
        return this.#standsAlone() && this.#fetchValue();
      default:
        return false;
    }
  }

  /** Whether `?` or `:` here is an indicator: in a block only before white space. */
  #standsAlone(): boolean {
    return this.#flowDepth > 0 || isBlankOrEnd(this.#cursor.peek(1));
  }

  /** Adds the token of an opening bracket, with which a key may begin. */
  #fetchFlowStart(kind: 'flow-sequence' | 'flow-mapping'): true {
    this.#saveKey();
    this.#keys.open(this.#queue.nextNumber);
    if (++this.#flowDepth > MAX_NESTING) this.#failTooDeep();
    this.#keyAllowed = true;
    this.#indicator(kind, 1);
    return true;
  }

  /** Adds the token of a closing bracket, behind which no key may begin. */
  #fetchFlowEnd(kind: 'flow-sequence-end' | 'flow-mapping-end'): true {
    this.#keys.remove();
    if (this.#flowDepth > 0) {
      this.#flowDepth--;
      this.#keys.close();
    }
    this.#keyAllowed = false;
    this.#indicator(kind, 1);
    return true;
  }

  /** Adds the token of a list's dash, and begins the list if this is its first item. */
  #fetchBlockEntry(): true {
    if (this.#flowDepth === 0) {
      if (!this.#keyAllowed) {
        this.#cursor.fail(
          'block sequence entries are not allowed in this context',
          ': a list begins on its own line',
        );
      }
      this.#openBlock('block-sequence');
    }
    this.#keys.remove();
    this.#keyAllowed = true;
    this.#indicator('block-entry', 1);
    return true;
  }

  /** Adds the token of a `?`, and begins the mapping if this is its first key. */
  #fetchKey(): true {
    if (this.#flowDepth === 0) {
      if (!this.#keyAllowed) {
        this.#cursor.fail('mapping keys are not allowed in this context', ': text with "? " needs quotes');
      }
      this.#openBlock('block-mapping');
    }
    this.#keys.remove();
    this.#keyAllowed = this.#flowDepth === 0;
    this.#indicator('key', 1);
    return true;
  }

  /** Adds the token of a colon, with those of the key and mapping that it begins. */
  #fetchValue(): true {
    const key = this.#keys.claim();
    if (key) {
      this.#insert('key', key);
      this.#openBlock('block-mapping', key);
      this.#keyAllowed = false;
    } else {
      if (this.#flowDepth === 0) {
        if (!this.#keyAllowed) {
          this.#cursor.fail(
            'mapping values are not allowed in this context',
            ': text with ": " needs quotes',
          );
        }
        this.#openBlock('block-mapping');
      }
      this.#keyAllowed = this.#flowDepth === 0;
    }
    this.#indicator('value', 1);
    return true;
  }

  /** Fetches what is known by its first character; false when it can only be a plain scalar. */
  #fetchNode(c: number): boolean {
    switch (c) {
      case 42 /* * */:
        return this.#fetchAnchor('alias');
      case 38 /* & */:
        return this.#fetchAnchor('anchor');
      case 33 /* ! */:
        return this.#fetchTag();
      case 34 /* " */:
      case 39 /* ' */:
        return this.#fetchQuoted();
      case 124 /* | */:
      case 62 /* > */:
        return this.#flowDepth === 0 && this.#fetchBlockScalar();
      default:
        return false;
    }
  }

  /** Adds an anchor or an alias, with which a key may begin. */
  #fetchAnchor(kind: 'alias' | 'anchor'): true {
    this.#saveKey();
    this.#keyAllowed = false;
    const { at: start, line } = this.#cursor;
    const name = scanAnchor(this.#cursor);
    this.#queue.push({ kind, name, start, end: this.#cursor.at, line });
    return true;
  }

  /** Adds a tag, with which a key may begin. */
  #fetchTag(): true {
    this.#saveKey();
    this.#keyAllowed = false;
    const { at: start, line } = this.#cursor;
    const tag = scanTag(this.#cursor);
    this.#queue.push({ kind: 'tag', tag, start, end: this.#cursor.at, line });
    return true;
  }

  /** Adds a quoted scalar, which may be a key. */
  #fetchQuoted(): true {
    this.#saveKey();
    this.#keyAllowed = false;
    const { at: start, line } = this.#cursor;
    const text = scanQuoted(this.#cursor);
    this.#queue.push({ kind: 'scalar', text, plain: false, start, end: this.#cursor.at, line });
    return true;
  }

  /** Adds a literal or folded scalar, which is never a key. */
  #fetchBlockScalar(): true {
    this.#keys.remove();
    this.#keyAllowed = true;
    const { at: start, line } = this.#cursor;
    const text = scanBlock(this.#cursor, this.#indent);
    this.#queue.push({ kind: 'scalar', text, plain: false, start, end: this.#cursor.at, line });
    return true;
  }

  /** Adds a plain scalar. One that ends behind a line break lets a key begin there. */
  #fetchPlain(c: number): void {
    if (!this.#mayBeginPlain(c)) this.#failCharacter(c);
    this.#saveKey();
    this.#keyAllowed = false;
    const { at: start, line } = this.#cursor;
    const { text, end, brokeLine } = scanPlain(this.#cursor, this.#indent + 1, this.#flowDepth > 0);
    if (brokeLine) this.#keyAllowed = true;
    this.#queue.push({ kind: 'scalar', text, plain: true, start, end, line });
  }

  /**
   * Indicators begin no plain scalar, save `-`, `?` and `:` before something else than white space. These are go-yaml's
   * conditions; where a block begins with one of them, it was taken before.
   */
  #mayBeginPlain(c: number): boolean {
    if (c === MINUS) return !isBlank(this.#cursor.peek(1));
    if (c === 63 /* ? */ || c === 58 /* : */) {
      return this.#flowDepth === 0 && !isBlankOrEnd(this.#cursor.peek(1));
    }
    return c !== TAB && !NEVER_PLAIN.has(c);
  }

  /** Refuses a character with which nothing begins. */
  #failCharacter(c: number): never {
    const context =
      c === TAB ? ': a tab cannot indent' : `: text with ${String.fromCharCode(c)} needs quotes`;
    this.#cursor.fail('found character that cannot start any token', context);
  }
}

/** `|` and `>` come here only inside flow collections. */
const NEVER_PLAIN = new Set([...'|>%@`'].map((c) => c.charCodeAt(0)));
