import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentsIn, readDocuments } from '../../../../pipeline/check/world/documents.ts';

/** Reads documents to an object each, one for the same bytes, and lists the texts that were read. */
function reader(): { read: (document: Buffer) => Promise<object>; texts: string[] } {
  const known = new Map<string, object>();
  const texts: string[] = [];
  const read = async (document: Buffer): Promise<object> => {
    const text = document.toString('latin1');
    texts.push(text);
    if (!known.has(text)) known.set(text, { text });
    return known.get(text) as object;
  };
  return { read, texts };
}

const file = (...names: string[]): Buffer =>
  Buffer.from(names.map((name) => `---\nname: ${name}\n`).join(''));

describe('documents of a file', () => {
  test('a line of three dashes ends one, with spaces and a carriage return behind it or at the end', () => {
    const texts = (content: string): string[] => documentsIn(Buffer.from(content)).map(String);
    expect(texts('a\n---\nb\n--- \t\r\nc\n---')).toEqual(['a\n', '\nb\n', '\nc\n', '']);
    expect(texts('a: -----BEGIN\n---- \n--- b\n ---\n')).toEqual(['a: -----BEGIN\n---- \n--- b\n ---\n']);
    expect(texts('')).toEqual(['']);
  });

  test('those that the later version has in the same order are not read again', async () => {
    const { read, texts } = reader();
    const later = await readDocuments(file('a', 'b', 'c', 'd', 'e'), undefined, read);
    const before = texts.length;
    await readDocuments(file('a', 'b', 'd', 'x', 'e'), later, read);
    expect(texts.slice(before)).toEqual(['\nname: d\n', '\nname: x\n']);
  });

  test('any two versions are read as each of them alone', async () => {
    const part = fc.constantFrom('a', '---', '\n', '\n---\n', ' ', '\r', '\t', '--', 'name: b\n');
    const content = fc.array(part, { maxLength: 14 }).map((parts) => Buffer.from(parts.join('')));
    await fc.assert(
      fc.asyncProperty(content, content, async (one, two) => {
        const { read } = reader();
        const later = await readDocuments(two, undefined, read);
        expect((await readDocuments(one, later, read)).documents).toEqual(
          (await readDocuments(one, undefined, read)).documents,
        );
      }),
      { numRuns: 3000 },
    );
  });
});
