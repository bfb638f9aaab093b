/**
 * Decompresses what `compress.ts` made with zstd, in a tenth of the time that a reader of any zstd takes: libzstd as
 * WebAssembly, a frame at a time.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8878 section 3.1.1
 */
import { PipelineError } from '../../error.ts';
import { FRAME } from './compress.ts';
import { loadZstd } from './zstd-library.ts';

/**
 * @param bytes frames, one behind the other, each of which says how much it holds
 * @throws PipelineError `corrupt` when the bytes break off or are damaged, and for frames that are not Portolan's
 */
export async function* unframed(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const library = await loadZstd();
  for await (const frame of frames(bytes)) {
    try {
      yield library.decompress(frame);
    } catch (cause) {
      throw damaged('cannot be decompressed', cause);
    }
  }
}

async function* frames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let [size, needed] = [0, 1];
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= needed) {
      const all = Buffer.concat(chunks);
      const { end, isWhole } = extentOf(all);
      needed = isWhole ? 1 : end;
      if (isWhole) yield all.subarray(0, end);
      chunks = [isWhole ? all.subarray(end) : all];
      size = chunks[0]?.length ?? 0;
    }
  }
  if (size > 0) throw damaged('breaks off');
}

const MAGIC = 0xfd2fb528;
const CHECKSUM = 4;

/** A frame at the beginning of the bytes: its length, or, when not all of it is there, a length without which nothing is told. */
interface FrameExtent {
  readonly end: number;
  readonly isWhole: boolean;
}

function extentOf(bytes: Buffer): FrameExtent {
  const head = headerOf(bytes);
  if (!head.isWhole) return head;
  for (let at = head.end; ; ) {
    if (bytes.length < at + 3) return { end: at + 3, isWhole: false };
    const block = bytes.readUIntLE(at, 3);
    const type = (block >> 1) & 3;
    if (type === 3) throw damaged('has a block of no known type');
    // A block of one byte that is repeated has no more than that byte.
    at += 3 + (type === 1 ? 1 : block >> 3);
    if ((block & 1) === 0) continue;
    const end = at + (((bytes[4] ?? 0) & 4) === 0 ? 0 : CHECKSUM);
    return { end, isWhole: bytes.length >= end };
  }
}

/** @throws PipelineError `corrupt` for a frame that could hold more than those of Portolan do */
function headerOf(bytes: Buffer): FrameExtent {
  if (bytes.length < 5) return { end: 5, isWhole: false };
  if (bytes.readUInt32LE(0) !== MAGIC) throw damaged('is not a zstd frame');
  const descriptor = bytes[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const [sizeBytes = 0] = [[isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]];
  if (sizeBytes === 0 || sizeBytes === 8 || (descriptor & 3) !== 0)
    throw damaged('is not a frame that Portolan writes');
  const at = isSingle ? 5 : 6;
  const end = at + sizeBytes;
  if (bytes.length < end) return { end, isWhole: false };
  const content = bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  if (content > FRAME) throw damaged(`holds ${content} bytes, more than ${FRAME}`);
  return { end, isWhole: true };
}

function damaged(why: string, cause?: unknown): PipelineError {
  return new PipelineError('corrupt', `a layer is damaged: a piece of it ${why}`, { cause });
}
