/**
 * `WWW-Authenticate`: what a registry wants to see before it answers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1
 * @see https://distribution.github.io/distribution/spec/auth/token/
 */

/** One challenge; names of schemes and parameters in lower case. */
export interface Challenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /[\w!#$%&'*+.^`|~-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const TOKEN68 = /[\w.~+/-]+=*(?=\s*(?:,|$))/y;
const SPACE = /\s*/y;

/** The challenges of a header, several of which may stand in one line; what cannot be read is left out. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(header) ?? undefined;
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < header.length) {
    take(SPACE);
    if (header[at] === ',') {
      at++;
      continue;
    }
    const name = take(TOKEN)?.[0].toLowerCase();
    if (name === undefined) break;
    take(SPACE);
    if (header[at] !== '=') {
      // Not a parameter, so a scheme; it may have one bare token instead of parameters.
      challenges.push({ scheme: name, parameters: new Map() });
      take(TOKEN68);
      continue;
    }
    at++;
    take(SPACE);
    const quoted = take(QUOTED)?.[1];
    const value = quoted === undefined ? take(TOKEN)?.[0] : quoted.replace(/\\(.)/g, '$1');
    if (value === undefined) break;
    challenges.at(-1)?.parameters.set(name, value);
  }
  return challenges;
}
