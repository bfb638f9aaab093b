/** Inputs made from known ones by small changes, and a loop that gives them to a target. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS } from './targets.ts';
import type { Random } from './yaml-documents.ts';

const CORPUS = 'test/fuzz/corpus';

/** Longest input, in bytes. */
const LONGEST = 4096;

/** An input that takes more of the processor's time, in microseconds, hangs. */
const MOST_CPU = 1_000_000;

/** What parsers look for, or stumble over. */
const PIECES = [
  '\0 \n \r\n \t " \' \\ { } [ ] : , - # & * ! | > % @ ` = ; < / . .. ../ // + ~ ^ ? $ ( ) é 😀 \u2028 \ufeff',
  '0 1 -1 9 00 07 0x 1e9 1e999 9007199254740993 18446744073709551615 18446744073709551616 -0 NaN null true false',
  '__proto__ constructor toString --- ... : |- >- <<: &a *a !!binary {{ }} {{.Name}} "} \\u0000 \\ud800 sha256: sha512:',
  '<= >= != || || >0.0.0 -rc.1 +b x.x.x name: schema: kind: end --> ]] "] &quot; PACK tree parent 0000 0001 ffff',
].flatMap((line) => line.split(' '));

/** The inputs that are kept for a target. */
export function corpusOf(target: string): Buffer[] {
  const folder = join(CORPUS, target);
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name)));
}

/** The bytes with one to six changes; some of them from another input. */
export function mutated(bytes: Buffer, other: Buffer, random: Random): Buffer {
  let made = bytes;
  for (let i = random.below(6); i >= 0; i--) made = changed(made, other, random);
  return made.length > LONGEST ? made.subarray(0, LONGEST) : made;
}

function changed(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + random.below(random.below(4) === 0 ? 200 : 8));
  switch (random.below(8)) {
    case 0: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = random.below(256);
      return copy;
    }
    case 1: {
      const copy = Buffer.from(bytes);
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    }
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    case 4: {
      const from = random.below(other.length + 1);
      const part = other.subarray(from, from + random.below(100));
      return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(random.below(2) === 0 ? at : to)]);
    }
    case 5:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.below(bytes.length + 1))]);
    default:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(random.pick(PIECES)),
        bytes.subarray(random.below(2) === 0 ? at : to),
      ]);
  }
}

/**
 * Gives one input to a target.
 *
 * @throws Error that has the input in base64, when the target throws or hangs
 */
export async function tried(name: string, bytes: Buffer): Promise<void> {
  const target = TARGETS[name];
  if (!target) throw new Error(`no target ${name}`);
  const began = performance.now();
  const before = process.cpuUsage();
  try {
    const result = target(bytes);
    if (result !== undefined) await result;
  } catch (cause) {
    const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    throw new Error(`${name} fails on ${bytes.toString('base64')}: ${message}`, { cause });
  }
  // The clock alone tells of a busy machine, too.
  if (performance.now() - began < MOST_CPU / 1000) return;
  const { user } = process.cpuUsage(before);
  if (user > MOST_CPU) throw new Error(`${name} takes ${user} µs for ${bytes.toString('base64')}`);
}

/** Gives so many inputs to a target: those of the corpus, and changed ones. */
export async function fuzz(name: string, runs: number, random: Random): Promise<void> {
  const known = corpusOf(name);
  for (const bytes of known) await tried(name, bytes);
  for (let run = known.length; run < runs; run++) {
    await tried(name, mutated(random.pick(known), random.pick(known), random));
  }
}
