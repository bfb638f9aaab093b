/** Why a requirement is not decided. */
export const NOT_EVALUATED = 'a rule in CEL costs more than is evaluated';

/** Thrown where finding out what clusters do costs more than it may: nothing that depends on it may pass. */
export class Undecided extends Error {
  /** What was not found out, such as `dependencies in v4.20`. */
  readonly what: string;
  readonly why: string;

  constructor(what: string, why: string) {
    super(`cannot check ${what}: ${why}`);
    this.what = what;
    this.why = why;
  }
}
