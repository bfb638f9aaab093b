/** Whether values in schemas mean the same. */

import { compactJson, sortedKeys } from '../go/json-text.ts';
import { onceFor } from '../go/once.ts';
import { isObject } from '../go/shape.ts';
import { keywordKind, ownKeywords, type Schema, withoutEmpty } from './schema.ts';

/**
 * Gives each value of a keyword a short text, the same for all values that mean the same. Each object is read once,
 * however many objects around it are compared.
 */
export class Meanings {
  readonly #numbers = new Map<string, number>();
  /** How many characters it has read. */
  size = 0;

  /** The text of a keyword's value; empty for a keyword that is not written. */
  textFor(key: string, value: unknown): string {
    if (value === undefined) return '';
    switch (keywordKind(key, value)) {
      case 'schema':
        return this.#schema(value);
      case 'list':
        return this.#numbered(`[${(value as unknown[]).map((one) => this.#schema(one)).join()}]`);
      case 'named':
        return this.#members(value as object, (one) => this.#schema(one));
      default:
        return this.#value(withoutEmpty(key, value));
    }
  }

  readonly #ofSchema = onceFor((schema: Schema) =>
    this.#numbered(
      [...ownKeywords(schema, [])].map(([key, one]) => `${key}:${this.textFor(key, one)}`).join(),
    ),
  );

  readonly #ofObject = onceFor((value: object) =>
    Array.isArray(value)
      ? this.#numbered(`[${value.map((one) => this.#value(one)).join()}]`)
      : this.#members(value, (one) => this.#value(one)),
  );

  /** The text of a schema, in which what means the same as nothing is left out. */
  #schema(value: unknown): string {
    return isObject(value) ? this.#ofSchema(value) : this.#value(value);
  }

  #value(value: unknown): string {
    return isObject(value) || Array.isArray(value) ? this.#ofObject(value) : compactJson(value);
  }

  /** The text of an object. Keys in their order, for two objects mean the same in any order. */
  #members(value: object, meaning: (member: unknown) => string): string {
    const members = value as Readonly<Record<string, unknown>>;
    return this.#numbered(
      `{${sortedKeys(value)
        .map((key) => `${JSON.stringify(key)}:${meaning(members[key])}`)
        .join()}}`,
    );
  }

  /** A number that stands for a text. No JSON value begins with its sign. */
  #numbered(text: string): string {
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    if (number === this.#numbers.size) {
      this.#numbers.set(text, number);
      this.size += text.length;
    }
    return `#${number}`;
  }
}

/** Most characters that are kept for the next comparison. */
const MOST_KEPT = 4 * 1024 * 1024;

let shared = new Meanings();

/** The meanings for a comparison: with those of earlier ones, because most releases repeat most of the one before. */
export function meaningsForComparison(): Meanings {
  if (shared.size > MOST_KEPT) shared = new Meanings();
  return shared;
}
