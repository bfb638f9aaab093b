/** A screenshot as a PNG of at most 256 colours, which takes a third of the bytes. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** @param png of 8 bits a channel, RGB or RGBA without transparency, not interlaced */
export function smallPng(png: Buffer): Buffer {
  const { width, height, channels, rows } = decoded(png);
  for (const step of [8, 16, 32, 64]) {
    const colours = new Map<number, number>();
    const pixels = Buffer.alloc(height * (width + 1));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = (y * width + x) * channels;
        const [r = 0, g = 0, b = 0] = rows.subarray(at, at + 3);
        const colour = (coarse(r, step) << 16) | (coarse(g, step) << 8) | coarse(b, step);
        const index = colours.get(colour) ?? colours.size;
        colours.set(colour, index);
        pixels[y * (width + 1) + 1 + x] = index;
      }
    }
    if (colours.size > 256) continue;
    const palette = Buffer.from([...colours.keys()].flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
    const head = Buffer.alloc(13);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    head.set([8, 3, 0, 0, 0], 8);
    return Buffer.concat([
      SIGNATURE,
      chunk('IHDR', head),
      chunk('PLTE', palette),
      chunk('IDAT', deflateSync(pixels, { level: 9, memLevel: 9 })),
      chunk('IEND', Buffer.alloc(0)),
    ]);
  }
  throw new Error('more than 256 colours');
}

function coarse(value: number, step: number): number {
  return Math.min(255, Math.round(value / step) * step);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function decoded(png: Buffer): { width: number; height: number; channels: number; rows: Buffer } {
  const data: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    const from = at + 8;
    if (png.toString('latin1', at + 4, from) === 'IDAT')
      data.push(png.subarray(from, from + png.readUInt32BE(at)));
  }
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= channels ? (rows[at - channels] ?? 0) : 0;
      const up = y > 0 ? (rows[at - stride] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (rows[at - stride - channels] ?? 0) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      rows[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return { width, height, channels, rows };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
