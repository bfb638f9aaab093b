/**
 * A place in a YAML text that moves forward, and the classes of characters that
 * decide where it stops. Line breaks are those of YAML 1.1: LF, CR, CR LF, U+0085,
 * U+2028 and U+2029.
 *
 * @see https://github.com/yaml/go-yaml/blob/v2.4.0/yamlprivateh.go
 */
import { YamlError } from './tree.ts';

/** Marks the end of the text; the reader rejects this character anywhere else. */
export const END = 0;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const NEXT_LINE = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;
const BYTE_ORDER_MARK = 0xfeff;

export function isBreak(c: number): boolean {
  if (c < NEXT_LINE) return c === LF || c === CR;
  return c === NEXT_LINE || c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR;
}

export function isBreakOrEnd(c: number): boolean {
  return c === END || isBreak(c);
}

export function isBlank(c: number): boolean {
  return c === SPACE || c === TAB;
}

export function isBlankOrEnd(c: number): boolean {
  return c <= SPACE ? c === SPACE || c === LF || c === TAB || c === CR || c === END : isBreak(c);
}

export function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

/** A letter, a digit, `_` or `-`: what names of anchors and tags are made of. */
export function isWord(c: number): boolean {
  return isDigit(c) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95 || c === 45;
}

/** Where in a text the scanner stands. */
export class Cursor {
  /** The text with {@link END} behind it. */
  readonly text: string;
  at = 0;
  /** 0-based number of the line, and where it begins. */
  line = 0;
  lineStart = 0;

  constructor(text: string) {
    this.text = `${text}\0`;
    if (text.charCodeAt(0) === BYTE_ORDER_MARK) this.lineStart = this.at = 1;
  }

  get column(): number {
    return this.at - this.lineStart;
  }

  /** The code of the character `ahead` of the cursor. */
  peek(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }

  /** Moves behind the line break at the cursor and returns what it means in a scalar. */
  passBreak(): string {
    const c = this.peek();
    this.at += c === CR && this.peek(1) === LF ? 2 : 1;
    this.line++;
    this.lineStart = this.at;
    return c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR ? String.fromCharCode(c) : '\n';
  }

  skipBlanks(): void {
    while (isBlank(this.peek())) this.at++;
  }

  skipComment(): void {
    if (this.peek() !== 35 /* # */) return;
    while (!isBreakOrEnd(this.peek())) this.at++;
  }

  /** Whether `---` or `...` stands alone at the beginning of the line. */
  atMarker(): boolean {
    if (this.at !== this.lineStart) return false;
    const c = this.peek();
    if (c !== 45 /* - */ && c !== 46 /* . */) return false;
    return this.peek(1) === c && this.peek(2) === c && isBlankOrEnd(this.peek(3));
  }

  /**
   * Refuses the document as go-yaml's scanner does.
   *
   * @param problem go-yaml's words
   * @param context ours: what was being read, or what to write instead
   * @param offset where to look, when that is not where the cursor stands
   */
  fail(problem: string, context: string, offset: number = this.at): never {
    const where = this.line > 0 ? `line ${this.line + 1}: ` : '';
    throw new YamlError(`${problem}${context}`, offset, `yaml: ${where}${problem}`);
  }
}
