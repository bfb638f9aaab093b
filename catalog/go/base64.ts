/** Base64 as Go's decoder takes it: with line breaks, and with stray bits in the last digit. */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The value of each digit by its character code; 255 for everything else. */
const VALUES: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = DIGITS.indexOf(String.fromCharCode(code));
  return value < 0 ? 255 : value;
});

/** Decodes valid base64; skips other characters. */
export function decodeBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? 255;
    if (value === 255) continue;
    // Bits that were written already fall out on the left.
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[length++] = (bits >>> count) & 0xff;
    }
  }
  return bytes.subarray(0, length);
}

/** A character for each byte; undefined for what only the tolerant decoder takes. */
export function latin1Of(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

/**
 * Base64 as an encoder would write the same bytes: without line breaks, and with the unused bits of the last digit zero.
 */
export function normalBase64(text: string): string {
  const digits = text.replaceAll(/[\r\n]/g, '');
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
  if (padding === 0) return digits;
  const at = digits.length - padding - 1;
  // Of the last digit's six bits, two are part of a byte with == behind it, and four with =.
  const last = DIGITS.indexOf(digits.charAt(at)) & (padding === 2 ? 0x30 : 0x3c);
  return `${digits.slice(0, at)}${DIGITS.charAt(last)}${'='.repeat(padding)}`;
}

/** Bytes that are encoded at once: whole groups of three. */
const STRETCH = 3 * 8192;

/** Bytes as base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += STRETCH) {
    text += btoa(String.fromCharCode(...bytes.subarray(from, from + STRETCH)));
  }
  return text;
}
