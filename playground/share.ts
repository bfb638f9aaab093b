/** A catalog as the fragment of a link: nothing of it is ever sent to a server. */
import { parseJson } from '../catalog/json.ts';

/** What a link holds. */
export interface Shared {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly before?: Readonly<Record<string, string>>;
}

/** The longest link that people can still send: chats and mail cut longer ones. */
export const LONGEST_LINK = 30_000;
/** What a link may hold when it is unpacked: a short one can promise much. */
const MOST_BYTES = 32 * 1024 * 1024;
const PREFIX = '#share=';

/** The fragment of a link, with its `#`. */
export async function fragmentOf(shared: Shared): Promise<string> {
  const text = new Blob([JSON.stringify(shared)]).stream();
  const packed = await new Response(text.pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer();
  let binary = '';
  for (const byte of new Uint8Array(packed)) binary += String.fromCharCode(byte);
  return `${PREFIX}${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/**
 * What a fragment holds; undefined where it is not one of ours.
 *
 * @throws Error where the link was cut or changed
 */
export async function sharedIn(fragment: string): Promise<Shared | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined;
  const shared: unknown = await unpacked(fragment.slice(PREFIX.length)).catch(() => undefined);
  if (!isShared(shared)) throw new Error('the link is damaged: copy the whole link, or ask for the file');
  return shared;
}

async function unpacked(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  );
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const decoder = new TextDecoder();
  let json = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parseJson(json + decoder.decode());
    size += value.byteLength;
    if (size > MOST_BYTES) throw new Error('too large');
    json += decoder.decode(value, { stream: true });
  }
}

function isShared(value: unknown): value is Shared {
  const { name, files, before } = Object(value);
  return typeof name === 'string' && areTexts(files) && (before === undefined || areTexts(before));
}

function areTexts(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === 'string')
  );
}
