import { describe, expect, test } from 'vitest';
import { splitDocuments } from '../../../catalog/fbc/split.ts';

describe('splitDocuments', () => {
  test.each([
    ['a\n', ['1 a\n']],
    ['', []],
    ['\n', ['1 \n']],
    ['---\na\n', ['2 a\n']],
    ['a\n---\nb\n', ['1 a\n', '3 b\n']],
    ['a\n---\n', ['1 a\n']],
    ['a\n---', ['1 a\n']],
    ['a\n---\n\n', ['1 a\n', '3 \n']],
    ['a\n---\n---\nb\n', ['1 a\n', '4 b\n']],
    ['---\n---\na\n', ['2 ', '3 a\n']],
    ['# licence\n---\na\n', ['1 # licence\n', '3 a\n']],
    ['a\n--- # comment\nb', ['1 a\n', '3 b']],
    ['a: |\n  x\n---\nb\n', ['1 a: |\n  x\n', '4 b\n']],
    ['---', ['2 ']],
  ])('%j holds %j', (text, pieces) => {
    expect(piecesOf(text)).toEqual(pieces);
  });

  test('text behind a separator is reported with its place, and reading goes on', () => {
    expect([...splitDocuments('a\n--- b\nc\n')]).toEqual([
      { line: 2, column: 4, rest: 'b' },
      { from: 0, to: 2, opened: 0, line: 1 },
      { from: 8, to: 10, opened: 8, line: 3 },
    ]);
  });

  test('a separator belongs to the piece that it opens, unless it closed the piece before it', () => {
    const text = '---\na\n---\n--- # x\nb\n---\nc\n';
    const pieces = [...splitDocuments(text)].map(
      (piece) => 'opened' in piece && text.slice(piece.opened, piece.to),
    );
    expect(pieces).toEqual(['---\na\n', '--- # x\nb\n', 'c\n']);
  });
});

function piecesOf(text: string): string[] {
  return [...splitDocuments(text)].map((piece) =>
    'rest' in piece ? `bad ${piece.rest}` : `${piece.line} ${text.slice(piece.from, piece.to)}`,
  );
}
