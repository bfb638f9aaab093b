/**
 * Documents made up at random out of what YAML is made of: half of them are sound,
 * the others nearly so.
 */

/** Numbers that a seed decides. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

const SCALARS = [
  `a¦b c¦x:y¦http://x¦a #b¦#c¦-1¦010¦0x1F¦1_0¦.5¦1e3¦yes¦~¦é¦😀¦""¦''¦"q\\n"¦'it''s'¦"a\n  b"`,
  `'a\n\n  b'¦"a\\\n  b"¦"\\/"¦"\\ud83d"¦"¦'¦{}¦[]¦[a, b]¦{a: b}¦[a¦{a¦[a: b]¦{? a : b}¦{"a":1}`,
  `[]: x¦2001-01-01¦.inf¦&x a¦*x¦!!str 1¦!t a¦!!int x¦<<¦@¦%¦\`¦|¦>¦?¦-¦:¦,¦...¦a\tb¦a: b¦- a¦"a" b`,
  `a\u0085b¦a\u2028b¦\ufeff¦\u0007¦- - a¦18446744073709551615`,
].flatMap((line) => line.split('¦'));
const KEYS = [`a¦b¦name¦a b¦"k"¦'k'¦y¦1¦<<¦~¦? k¦&x k¦*x¦[a]¦__proto__¦é`].flatMap((line) => line.split('¦'));
const HEADERS = ['|', '>', '|-', '>+', '|+', '|2', '>1-', '| # c', '|x', '|0'];
const SEPARATORS = [': ', ': ', ': ', ': ', ' : ', ':  ', ':\t', ':', '?: '];
const BREAKS = ['\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n', '\r\n', '\r', '\u0085', '\u2028'];
const LINES = ['text', 'more text', '', '  deeper', '\ttab', '# no', 'a: b', '- x', 'x  '];
const SPLINTERS = [` ¦\n¦:¦- ¦#¦"¦'¦\t¦{¦}¦[¦]¦,¦\\¦&a ¦*a¦!¦|¦?¦%`].flatMap((line) => line.split('¦'));

/** One document. */
export function yamlDocument(random: Random): string {
  const text = random.below(4) === 0 ? sequence(random, 0, 3) : mapping(random, 0, 3);
  return random.below(2) === 0 ? text : damage(text, random);
}

/** The same text with a few characters more or less. */
export function damage(text: string, random: Random): string {
  let damaged = text;
  for (let i = random.below(3); i >= 0; i--) {
    const at = random.below(damaged.length + 1);
    const rest = damaged.slice(at + (random.below(2) === 0 ? random.below(4) : 0));
    damaged = damaged.slice(0, at) + (random.below(3) === 0 ? '' : random.pick(SPLINTERS)) + rest;
  }
  return damaged;
}

function lineBreak(random: Random): string {
  return random.below(8) === 0 ? random.pick(BREAKS) : '\n';
}

function mapping(random: Random, indent: number, depth: number): string {
  const pad = ' '.repeat(indent);
  let text = '';
  for (let i = random.below(4); i >= 0; i--) {
    const key = pad + random.pick(KEYS);
    switch (depth > 0 ? random.below(8) : random.below(4)) {
      case 0:
        text += `${key}: ${random.pick(HEADERS)}${lineBreak(random)}${block(random, indent + random.below(4))}`;
        break;
      case 1:
        text += `${key}: ${random.pick(SCALARS)}\n${' '.repeat(indent + random.below(4))}${random.pick(SCALARS)}\n`;
        break;
      case 4:
        text += `${key}:${random.pick(['', '', ' &x', ' # c', ' !!map'])}\n${mapping(random, indent + 2, depth - 1)}`;
        break;
      case 5:
        text += `${key}:\n${sequence(random, indent + random.below(2) * 2, depth - 1)}`;
        break;
      case 6:
        text += random.pick([
          '\n',
          '# c\n',
          `${pad}# c\n`,
          '   \n',
          `${key}:\n`,
          `${key}: {x: &x {y: z}, <<: *x}\n`,
        ]);
        break;
      default:
        text += key + random.pick(SEPARATORS) + random.pick(SCALARS) + lineBreak(random);
    }
  }
  return text;
}

function sequence(random: Random, indent: number, depth: number): string {
  const pad = ' '.repeat(indent);
  let text = '';
  for (let i = random.below(4); i >= 0; i--) {
    const kind = depth > 0 ? random.below(5) : 0;
    if (kind < 3) text += `${pad}- ${random.pick(SCALARS)}${lineBreak(random)}`;
    else if (kind === 3) text += `${pad}- ${mapping(random, indent + 2, depth - 1).trimStart()}`;
    else text += `${pad}-\n${mapping(random, indent + random.below(4), depth - 1)}`;
  }
  return text;
}

function block(random: Random, indent: number): string {
  let text = '';
  for (let i = random.below(6); i > 0; i--) {
    text += ' '.repeat(Math.max(0, indent + random.below(3) - 1)) + random.pick(LINES) + lineBreak(random);
  }
  return text;
}

const PIECES = [
  `a¦word¦yes¦1¦0x1¦1.5¦-¦---¦...¦ ¦  ¦:¦: ¦ #¦#¦\n¦ \n¦\n ¦\t¦"¦'¦\\¦{¦[¦,¦&¦*¦!¦|¦>¦%¦@¦\`¦?¦é¦日本`,
  `😀¦\u00a0¦\u2028¦\ufeff¦\r¦\u0000¦\u001b¦2001-01-01¦1:30`,
  `a longer piece of text that has to be folded `,
].flatMap((line) => line.split('¦'));

/** A value of JSON without what Go loses on its way through YAML: U+0085, and the key `<<`, which it writes without quotes. */
export function jsonValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 0 ? 8 : 4)) {
    case 0:
      return random.pick([null, true, false, 0, -1, 1.5, 1e21, 1e-7, 2 ** 53, 1234567.5, 2 ** 63, 5e-324]);
    case 4:
      return Array.from({ length: random.below(4) }, () => jsonValue(random, depth - 1));
    case 5:
    case 6:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [string(random, 5), jsonValue(random, depth - 1)]),
      );
    default:
      return string(random, random.below(3) === 0 ? 30 : 6);
  }
}

function string(random: Random, pieces: number): string {
  let text = '';
  for (let i = random.below(pieces); i > 0; i--) text += random.pick(PIECES);
  return text;
}
