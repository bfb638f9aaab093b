/**
 * A `Range` header of one range as start and end, the end not included; `outside` when the content has no byte of it (416);
 * undefined when there is none, or when it is not understood and all is sent.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function byteRange(
  header: string | undefined,
  size: number,
): readonly [number, number] | 'outside' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  // No header, several ranges, or `bytes=-`.
  if (from === '' && to === '') return undefined;
  // A range that ends before it begins is invalid, and recipients ignore it.
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  // Without a start, the number says how many of the last bytes are wanted.
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  // The header's last byte belongs to the range.
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  return start < end ? [start, end] : 'outside';
}
