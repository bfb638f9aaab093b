/**
 * Tokens of YAML, and the queue in which they wait until nothing can be put before them.
 */

import type { Cursor } from './cursor.ts';
import type { Directive, Tag } from './scan-property.ts';

interface Span {
  readonly start: number;
  readonly end: number;
  /** 0-based line on which the token starts. */
  readonly line: number;
}

/** Tokens that carry nothing but their place. */
export type Mark =
  | 'stream-end'
  | 'document-start'
  | 'document-end'
  | 'block-sequence'
  | 'block-mapping'
  | 'block-end'
  | 'block-entry'
  | 'flow-sequence'
  | 'flow-mapping'
  | 'flow-sequence-end'
  | 'flow-mapping-end'
  | 'flow-entry'
  | 'key'
  | 'value';

export type Token = Span &
  (
    | { readonly kind: Mark }
    | { readonly kind: 'directive'; readonly directive: Directive }
    | { readonly kind: 'alias' | 'anchor'; readonly name: string }
    | { readonly kind: 'tag'; readonly tag: Tag }
    | { readonly kind: 'scalar'; readonly text: string; readonly plain: boolean }
  );

/** Tokens are numbered from the beginning of the text; those taken keep their numbers. */
export class TokenQueue {
  #tokens: Token[] = [];
  #head = 0;
  #taken = 0;

  /** Number of the token at the head. */
  get headNumber(): number {
    return this.#taken;
  }

  /** Number that the next token to be pushed will have. */
  get nextNumber(): number {
    return this.#taken + this.#tokens.length - this.#head;
  }

  get head(): Token | undefined {
    return this.#tokens[this.#head];
  }

  push(token: Token): void {
    this.#tokens.push(token);
  }

  /**
   * Puts a token before the one with a number. When that one was taken already, go-yaml
   * appends the token: so it reads `[]: x` as `[]`, the end of which forgets that its
   * beginning could be a key.
   */
  insert(token: Token, number: number): void {
    const place = number - this.#taken;
    if (place < 0) this.#tokens.push(token);
    else this.#tokens.splice(this.#head + place, 0, token);
  }

  /** Takes the token at the head. It stays in the array until all are taken: removing it would move all others. */
  shift(): void {
    this.#taken++;
    this.#head++;
    if (this.#head === this.#tokens.length) {
      this.#tokens = [];
      this.#head = 0;
    }
  }
}

// Keys without `?`: whether a token begins one is known only when its colon is found,
// on the same line and within 1024 characters.
//
// @see https://github.com/yaml/go-yaml/blob/v2.4.0/scannerc.go

const MAX_LENGTH = 1024;

/** A place where such a key may have begun. */
export interface SimpleKey {
  possible: boolean;
  /** Whether nothing but a key may stand there. */
  readonly required: boolean;
  /** Number of the key's first token. */
  readonly token: number;
  readonly at: number;
  readonly line: number;
  readonly column: number;
}

/** The latest candidate of each flow level; the block level is the first. */
export class SimpleKeys {
  readonly #cursor: Cursor;
  readonly #keys: SimpleKey[] = [];
  /** The level of the candidate that a token begins, by the token's number. */
  readonly #levels = new Map<number, number>();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
    this.open(0);
  }

  /** The candidate of the innermost level. */
  get current(): SimpleKey {
    return this.#keys[this.#keys.length - 1]!;
  }

  /** Enters a flow level, in which no key has begun yet. */
  open(token: number): void {
    this.#keys.push(this.#candidate(false, false, token));
  }

  /**
   * Leaves the innermost level. As in go-yaml, this also forgets a candidate that the level's own bracket began, if no
   * other followed.
   */
  close(): void {
    const key = this.#keys.pop();
    if (key) this.#levels.delete(key.token);
  }

  /** Notes that a key may begin at the cursor. */
  save(token: number, required: boolean): void {
    const key = this.#candidate(true, required, token);
    this.remove();
    this.#keys[this.#keys.length - 1] = key;
    this.#levels.set(token, this.#keys.length - 1);
  }

  /** Notes that the innermost candidate is not a key, for no colon can follow it any more. */
  remove(): void {
    const key = this.current;
    if (!key.possible) return;
    this.#giveUp(key);
    this.#levels.delete(key.token);
  }

  /**
   * Takes the innermost candidate, for a colon that was found: the caller makes it a key.
   *
   * @returns undefined if no key can have begun there
   */
  claim(): SimpleKey | undefined {
    const key = this.current;
    if (!this.#isPossible(key)) return undefined;
    key.possible = false;
    this.#levels.delete(key.token);
    return key;
  }

  /** Whether a token may turn out to begin a key. */
  mayBeginAt(token: number): boolean {
    const level = this.#levels.get(token);
    const key = level === undefined ? undefined : this.#keys[level];
    return key !== undefined && this.#isPossible(key);
  }

  #candidate(possible: boolean, required: boolean, token: number): SimpleKey {
    const { at, line, column } = this.#cursor;
    return { possible, required, token, at, line, column };
  }

  /** Whether a colon may still follow a candidate: on its line, and not too far from it. */
  #isPossible(key: SimpleKey): boolean {
    if (!key.possible) return false;
    if (key.line === this.#cursor.line && !this.#isFarFrom(key.at)) return true;
    this.#giveUp(key);
    return false;
  }

  /**
   * Notes that a candidate is not a key.
   *
   * @throws YamlError where nothing but a key may stand
   */
  #giveUp(key: SimpleKey): void {
    if (key.required) {
      this.#cursor.fail(
        "could not find expected ':'",
        ': the text that begins here is indented like a key',
        key.at,
      );
    }
    key.possible = false;
  }

  /** Whether more characters than a key may have stand between `from` and the cursor. */
  #isFarFrom(from: number): boolean {
    const { at, text } = this.#cursor;
    if (at - from <= MAX_LENGTH) return false;
    if (at - from > 2 * MAX_LENGTH) return true;
    const pairs = text.slice(from, at).match(/[\ud800-\udbff]/g)?.length ?? 0;
    return at - from - pairs > MAX_LENGTH;
  }
}
