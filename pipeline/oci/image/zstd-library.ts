/** libzstd as WebAssembly. */
import type { Zstd } from '@hpcc-js/wasm-zstd';

/** What the library keeps to itself: how bytes come out of WebAssembly's memory, and what holds the state of a stream. */
interface Inside {
  readonly _mainModule?: {
    heapView(place: unknown): Uint8Array;
    heapToUint8Array(place: unknown): Uint8Array;
  };
  readonly _zstdClass: new () => { delete(): void };
}

/** Loads the library, with results copied at once: it copies them byte by byte, which takes longer than to make them. */
export async function loadZstd(): Promise<Zstd> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const library = await Zstd.load();
  const { _mainModule: memory } = library as unknown as Inside;
  if (memory?.heapView) memory.heapToUint8Array = (place) => memory.heapView(place).slice();
  return library;
}

/** A stream that is decompressed piece by piece. */
export interface ZstdStream {
  /** @param most bytes that come out at most; what is damaged gives none */
  decompress(piece: Uint8Array, most: number): Uint8Array;
  /** Whether all frames so far were sound and are complete. No further piece may follow if not. */
  isAtStart(): boolean;
  /** Gives back its memory. */
  close(): void;
}

/** A frame that holds the text `sound`. The library reports no error while it streams; after one, this does not come out. */
const PROBE = Buffer.concat([Buffer.from('28b52ffd2005290000', 'hex'), Buffer.from('sound')]);

/** A stream with a state of its own. @see {@link PROBE} for how it tells whether all before was sound */
export async function openZstdStream(): Promise<ZstdStream> {
  const library = await loadZstd();
  // The library has one state for all its streams, and layers are read at the same time.
  const state = new (library as unknown as Inside)._zstdClass();
  const own: Zstd = Object.create(library, { _zstd: { value: state } });
  own.reset();
  return {
    decompress: (piece, most) => own.decompressChunk(piece, most),
    isAtStart: () => Buffer.from(own.decompressChunk(PROBE, 64)).toString('latin1') === 'sound',
    close: () => state.delete(),
  };
}
