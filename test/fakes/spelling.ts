/** One value in many spellings: as JSON and YAML, keys of every case and twice, anchors, marks, documents around it. */
import fc from 'fast-check';

/** Ways to write a value. Go folds keys beyond ASCII, too: ſ is an s, the sign of kelvin a k. */
interface Spelling {
  readonly json: boolean;
  readonly cases: readonly ('as is' | 'upper' | 'first' | 'fold')[];
  readonly twice: 'no' | 'same before' | 'same behind' | 'other case before' | 'other case behind';
  readonly escaped: boolean;
  readonly merged: boolean;
  readonly mark: boolean;
  readonly before: string;
  readonly behind: string;
  readonly breaks: '\n' | '\r\n';
}

const spellings: fc.Arbitrary<Spelling> = fc.record({
  json: fc.boolean(),
  cases: fc.array(fc.constantFrom('as is', 'as is', 'as is', 'upper', 'first', 'fold'), {
    minLength: 3,
    maxLength: 9,
  }),
  twice: fc.constantFrom(
    'no',
    'no',
    'no',
    'same before',
    'same behind',
    'other case before',
    'other case behind',
  ),
  escaped: fc.boolean(),
  merged: fc.boolean(),
  mark: fc.boolean(),
  before: fc.constantFrom(
    '',
    '',
    '',
    '---\n',
    '# x\n---\n',
    '%YAML 1.1\n---\n',
    '\n\n',
    '---\n---\n',
    '{}\n',
  ),
  behind: fc.constantFrom(
    '',
    '',
    '\n---\n',
    '\n...\n',
    '\n...\nx: y\n',
    '\n{"schema": "x"}\n',
    '\n---\nx: [\n',
  ),
  breaks: fc.constantFrom('\n', '\n', '\r\n'),
});

export type Value = string | readonly Value[] | { readonly [key: string]: Value };

/** A value in a spelling, whose cases are used one after another. */
function spelled(value: Value, spelling: Spelling): string {
  let count = 0;
  const keyOf = (key: string): string => {
    const how = spelling.cases[count++ % spelling.cases.length];
    const written =
      how === 'upper'
        ? key.toUpperCase()
        : how === 'first'
          ? key.charAt(0).toUpperCase() + key.slice(1)
          : how === 'fold'
            ? key.replaceAll('s', 'ſ').replaceAll('k', '\u212a')
            : key;
    const quoted = JSON.stringify(written);
    return spelling.escaped ? quoted.replace(/e/, '\\u0065') : quoted;
  };
  const flow = (one: Value): string => {
    if (typeof one === 'string') return JSON.stringify(one);
    if (Array.isArray(one)) return `[${one.map(flow).join(', ')}]`;
    const members = Object.entries(one).map(([key, member]) => `${keyOf(key)}: ${flow(member)}`);
    return `{${members.join(', ')}}`;
  };
  const lines = Object.entries(value).flatMap(([key, member]) => {
    const line = `${keyOf(key)}: ${flow(member)}`;
    // A harmless value under the same key, or under one that only its case tells apart.
    const decoy = (other: string): string =>
      `${JSON.stringify(other)}: ${typeof member === 'string' ? JSON.stringify(member) : Array.isArray(member) ? '[]' : '{}'}`;
    switch (spelling.twice) {
      case 'same before':
        return [decoy(key), line];
      case 'same behind':
        return [line, decoy(key)];
      case 'other case before':
        return [decoy(key.toUpperCase()), line];
      case 'other case behind':
        return [line, decoy(key.toUpperCase())];
      default:
        return [line];
    }
  });
  const body = spelling.json
    ? `{${lines.join(',\n')}}`
    : spelling.merged
      ? `hidden: &a\n${lines.map((line) => `  ${line}\n`).join('')}<<: *a\n`
      : `${lines.join('\n')}\n`;
  const text = `${spelling.mark ? '\ufeff' : ''}${spelling.before}${body}${spelling.behind}`;
  return text.replaceAll('\n', spelling.breaks);
}

/** So many texts of a value, the plain one first. */
export function spelledTexts(
  value: Value,
  { seed, count }: { readonly seed: number; readonly count: number },
): string[] {
  const some = fc.sample(spellings, { seed, numRuns: count - 2 });
  const plain = JSON.stringify(value);
  return [plain, `${plain}\n`, ...some.map((one) => spelled(value, one))];
}
