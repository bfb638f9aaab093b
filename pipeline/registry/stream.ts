/** Bytes that come in pieces. */

/** All of a stream that is known to be small. */
export async function allOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A stream of one piece. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** A stream without its first bytes. */
export async function* skipping(
  stream: AsyncIterable<Uint8Array>,
  count: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let skip = count;
  for await (const chunk of stream) {
    if (skip < chunk.length) yield skip === 0 ? chunk : chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
}
