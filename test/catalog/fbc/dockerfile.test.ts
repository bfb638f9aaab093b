import { expect, test } from 'vitest';
import { readDockerfile } from '../../../catalog/fbc/dockerfile.ts';

test.each([
  ['one ENV instruction sees the values from before it in all of it', 'ENV a=1\nENV a=2 b=$a', '2 1'],
  ['which of ENV and an ARG that follows counts depends on the builder', 'ENV a=1\nARG a=2', undefined],
  ['an ARG that says what ENV says is known', 'ENV a=1\nARG a=1\nARG b=3', '1 3'],
  ['ENV overrides an ARG from before', 'ARG a=1\nENV a=2\nARG b=$a', '2 2'],
  ['the last of two ARG counts', 'ARG a=1 b=2\nARG a=3', '3 2'],
])('%s', (_, lines, expected) => {
  const [stage] = readDockerfile(`FROM scratch\n${lines}\nLABEL x="$a $b"\n`);
  expect(stage?.labels.get('x')?.value).toBe(expected);
});

test('123: variables that hold each other several times do not grow', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `ARG a${i + 1}=${`$a${i}`.repeat(4)}\n`).join('');
  const text = `FROM scratch\nARG a0=catalogs/v4.20\n${lines}LABEL x=$a30 y=$a2\nCOPY $a30 /configs\n`;
  const [stage] = readDockerfile(text);
  expect(stage?.labels.get('x')?.value).toBeUndefined();
  expect(stage?.copies).toMatchObject([{ from: undefined, sources: undefined, to: '/configs' }]);
  const [small] = readDockerfile('FROM scratch\nARG a=x\nARG b=$a$a$a\nLABEL x=$b$b\n');
  expect(small?.labels.get('x')?.value).toBe('xxxxxx');
});

test.each([
  ['# escape=`', '`', true],
  ['# syntax=docker/dockerfile:1\r\n#Escape = `', '`', true],
  ['# escape=`', '\\', false],
  ['# a comment\n# escape=`', '`', false],
  ['\n# escape=`', '`', false],
])('151: the first lines say what continues a line: %j and %j', (top, end, goesOn) => {
  const [stage] = readDockerfile(`${top}\nFROM scratch\nRUN true ${end}\nCOPY catalogs /configs\n`);
  expect(stage?.copies.length).toBe(goesOn ? 0 : 1);
});
