/**
 * A `Range` header of one range as start and end, the end not included; undefined when there is none, or when it is not
 * understood and all is sent.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function byteRange(
  header: string | undefined,
  size: number,
): readonly [number, number] | 'outside' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  // Without a start, the number says how many of the last bytes are wanted.
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  return start < end ? [start, end] : 'outside';
}
