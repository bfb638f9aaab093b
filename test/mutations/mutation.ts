/** A defence taken out of the sources: after it, a test of the attack that it wards off must fail. */
export interface Mutation extends Edit {
  /** By the number of the design's list. */
  readonly attack: number;
  /** What no longer happens. */
  readonly without: string;
  /** The file with the tests of the attack. */
  readonly test: string;
  /** A part of the title of the test that fails, where the file has many of the attack. */
  readonly title?: string;
  /** A second defence behind the first one. */
  readonly and?: Edit;
  /** Set where the code without the defence waits for what never comes: its test may take this long, in ms. */
  readonly limit?: number;
}

export interface Edit {
  readonly file: string;
  /** Text of the file, which stands there once. */
  readonly text: string;
  /** What stands there in its place. */
  readonly instead: string;
}

/** For tests that take a second. */
export const SHORT = 10_000;

export const GATE = 'test/attack/gate.test.ts';
export const FORGE = 'test/attack/forge.test.ts';
export const RELEASED = 'test/attack/released.test.ts';
export const READERS = 'test/attack/readers.test.ts';
export const OUTPUTS = 'test/attack/outputs.test.ts';
export const SEQUENCES = 'test/attack/verdict-sequences.test.ts';
export const VERDICTS = 'test/attack/verdicts.test.ts';
export const WORKFLOWS = 'test/attack/workflows.test.ts';
export const ADDRESSES = 'test/attack/registry-addresses.test.ts';
export const CLAIMS = 'test/pipeline/github/claims.test.ts';
