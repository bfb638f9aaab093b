/**
 * The command line of `opm`, as it is typed: what a command takes, and what is read of a call.
 *
 * @see https://github.com/operator-framework/operator-registry/tree/master/cmd/opm
 */
import { resolve } from 'node:path';
import type { TemplateText } from '../../../catalog/opm/template/template.ts';
import type { ReachOptions } from '../../catalogs/render/client.ts';
import { readContent } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import type { Terminal } from '../../terminal.ts';

export interface OpmCommand {
  /** What is typed behind `opm`, such as `alpha list packages`. */
  readonly words: string;
  readonly summary: string;
  /** The operands as the usage line shows them. */
  readonly operands: string;
  /** How many operands there may be. */
  readonly least: number;
  readonly most: number;
  readonly flags: Readonly<Record<string, OpmFlag>>;
  /** Flags of which only one may be given. */
  readonly exclusive?: readonly string[];
  readonly run: (call: Call, world: World) => Promise<OpmExit>;
}

export interface OpmFlag {
  readonly description: string;
  /** What the flag takes; absent for a flag that is only there or not. */
  readonly value?: string;
  /** One letter, without its dash. */
  readonly short?: string;
  readonly default?: string;
  /** Whether values add up, and each may be several with commas between. */
  readonly list?: true;
}

/** opm knows no third code: whatever failed is 1. */
export type OpmExit = 0 | 1;

/** What was typed behind a command's words. */
export interface Call {
  readonly operands: readonly string[];
  /** The value of a flag, or its default, or nothing. */
  readonly text: (flag: string) => string;
  /** All values of a flag that may be repeated, those between commas one by one. */
  readonly list: (flag: string) => readonly string[];
  /** Whether a flag without a value is on. */
  readonly flag: (flag: string) => boolean;
  /** Whether a flag was typed, whatever its value is. */
  readonly given: (flag: string) => boolean;
}

/** What the commands need besides the terminal. */
export interface World {
  readonly terminal: Terminal;
  /** The way to the registry of a host that somebody typed the name of. */
  readonly registry: (host: string, options: ReachOptions) => Registry | Promise<Registry>;
}

/** Flags that every command has. */
export const GLOBAL_FLAGS: Readonly<Record<string, OpmFlag>> = {
  help: { short: 'h', description: 'show this help' },
  'skip-tls': { description: 'the same as --skip-tls-verify --use-http' },
  'skip-tls-verify': { description: 'skip TLS certificate verification for registries' },
  idms: {
    value: 'PATH',
    list: true,
    description:
      'read images where these ImageDigestMirrorSets, ImageTagMirrorSets or ImageContentSourcePolicies say',
  },
  'registries-conf': {
    value: 'FILE',
    description: 'read images where this registries.conf (version 2) says',
  },
  'use-http': { description: 'use plain HTTP for registries' },
};

// A file that a command reads, or its standard input.

/**
 * Reads a template or catalog from a file or from standard input.
 *
 * @param path `-` or nothing for standard input
 * @throws PipelineError `not-found` or `io`
 */
export async function readInput(path: string | undefined, terminal: Terminal): Promise<TemplateText> {
  if (path === undefined || path === '-') {
    return { file: 'standard input', bytes: new TextEncoder().encode(await terminal.input()) };
  }
  return { file: path, bytes: readContent(resolve(terminal.directory, path)) };
}

// The formats that opm prints in.

export const OUTPUT_FLAG = { short: 'o', value: 'FORMAT', default: 'json' } as const;

/**
 * The value of `--output`.
 *
 * @throws PipelineError `usage` when it is none of the formats
 */
export function outputOf<Format extends string>(call: Call, formats: readonly Format[]): Format {
  const output = call.text('output');
  const known = formats.find((format) => format === output);
  if (known !== undefined) return known;
  throw new PipelineError('usage', `--output must be ${formats.join(' or ')}, not ${JSON.stringify(output)}`);
}
