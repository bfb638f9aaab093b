/** Runs of one program as one: each number in their texts is its median. */

const NUMBER = /\d+(?:\.\d+)?/g;

/**
 * The texts' common text with the median of each number; where the texts differ in anything but numbers, all of them.
 *
 * @param texts what a program printed, run by run
 */
export function medianText(texts: readonly string[]): string {
  const [first = ''] = texts;
  const shape = (text: string): string => text.replaceAll(NUMBER, '0');
  if (texts.some((text) => shape(text) !== shape(first))) return texts.join('\n');
  const numbers = texts.map((text) => text.match(NUMBER) ?? []);
  let i = 0;
  return first.replaceAll(NUMBER, () => {
    const sorted = numbers.map((run) => run[i] ?? '').sort((a, b) => Number(a) - Number(b));
    i++;
    return sorted[Math.floor(sorted.length / 2)] ?? '';
  });
}
