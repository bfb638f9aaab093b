/** libzstd as WebAssembly. */
import type { Zstd } from '@hpcc-js/wasm-zstd';

/** What the library keeps to itself: how bytes come out of WebAssembly's memory. */
interface Memory {
  heapView(place: unknown): Uint8Array;
  heapToUint8Array(place: unknown): Uint8Array;
}

/** Loads the library, with results copied at once: it copies them byte by byte, which takes longer than to make them. */
export async function loadZstd(): Promise<Zstd> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const library = await Zstd.load();
  const { _mainModule: memory } = library as unknown as { readonly _mainModule?: Memory };
  if (memory?.heapView) memory.heapToUint8Array = (place) => memory.heapView(place).slice();
  return library;
}
