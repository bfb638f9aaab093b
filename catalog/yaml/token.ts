/**
 * Tokens of YAML, and the queue in which they wait until nothing can be put before them.
 */
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

  shift(): void {
    this.#taken++;
    this.#head++;
    if (this.#head === this.#tokens.length) {
      this.#tokens = [];
      this.#head = 0;
    }
  }
}
