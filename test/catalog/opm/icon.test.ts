import { expect, test } from 'vitest';
import { imageType } from '../../../catalog/opm/icon.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const text = (content: string): Uint8Array => new TextEncoder().encode(content);

test.each([
  ['ffd8ffe0', 'image/jpeg'],
  ['89504e470d0a', 'image/png'],
  ['474946383961', 'image/gif'],
  ['524946460000000057454250', 'image/webp'],
  ['49492a000000000000000000', 'image/tiff'],
  ['49492a0000000000435202', 'image/x-canon-cr2'],
  ['424d', 'image/bmp'],
  ['00000100', 'image/vnd.microsoft.icon'],
  ['00000018667479706d696631000000006d69663168656963', 'image/heif'],
  ['0000001866747970617669660000000061766966' + '6d696631', undefined],
  ['255044462d312e34', undefined],
  ['', undefined],
])('%s is %s', (hex, type) => expect(imageType(bytes(hex))).toBe(type));

test.each([
  ['<svg></svg>', 'image/svg+xml'],
  [
    '<?xml version="1.0"?>\n<!-- <svg> -->\n<!DOCTYPE svg PUBLIC "x">\n<SVG width="1">a</SVG>\n',
    'image/svg+xml',
  ],
  ['<html><svg></svg></html>', undefined],
  ['<svg>', undefined],
  ['\ufeff<svg></svg>', undefined],
  ['\f<svg>\u00a0</svg>\r\n', 'image/svg+xml'],
])('%j is %s', (content, type) => expect(imageType(text(content))).toBe(type));

test('comments without end are looked through once', () => {
  expect(imageType(text(`<svg>${'<!--'.repeat(1_000_000)}</svg>`))).toBe('image/svg+xml');
});
