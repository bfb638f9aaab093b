/** What setup cannot tell from the files of a repository, asked at a terminal: an empty answer leaves it open. */
import { parseIdentity } from '../../policy/identity.ts';
import type { Decisions, OpenQuestions } from '../../policy/setup/setup.ts';
import { amountText, plainText } from '../../text.ts';

/** Packages whose owners are asked for, one by one; of more, the policy has to be written by hand. */
const MOST_PACKAGES = 5;
/** How often a question is asked until the answer can be read. */
const TRIES = 3;

const PEOPLE = 'LOGIN, LOGIN#ID or @ORG/TEAM, comma-separated';

/** Asks a question; gives the next line of standard input, an empty one at its end. */
type Ask = (question: string) => Promise<string>;

/** Asks for all that is open, one question after the other. */
export async function askAll(open: OpenQuestions, ask: Ask): Promise<Decisions> {
  const admins = open.admins.length > 0 ? [] : await people(ask, `Who may change everything? (${PEOPLE}) `);
  return {
    admins,
    owners: await ownersOf(open.unowned, ask),
    published: await isPublished(open.rebuilt, ask),
    order: await orderOf(open.unordered, ask),
  };
}

/** Asks for people or teams; none after an empty answer, or after too many bad ones. */
async function people(ask: Ask, question: string): Promise<string[]> {
  const isPerson = (text: string): boolean => parseIdentity(text) !== undefined;
  return (await list(ask, question, isPerson, PEOPLE)) ?? [];
}

/** Asks for a list until every item is good. @returns undefined after an empty answer, or after too many bad ones */
async function list(
  ask: Ask,
  question: string,
  isGood: (text: string) => boolean,
  expected: string,
): Promise<string[] | undefined> {
  let again = '';
  for (let i = 0; i < TRIES; i++) {
    const texts = (await ask(`${again}${question}`))
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== '');
    if (texts.length === 0) return undefined;
    const wrong = texts.find((text) => !isGood(text));
    // What is named twice would make a policy that is refused.
    if (wrong === undefined) return [...new Set(texts)];
    again = `${plainText(JSON.stringify(wrong))} is not valid: expected ${expected}\n`;
  }
  return undefined;
}

/** Asks for the owners of packages, unless they are too many to ask for. */
async function ownersOf(unowned: readonly string[], ask: Ask): Promise<Map<string, readonly string[]>> {
  const owners = new Map<string, readonly string[]>();
  if (unowned.length > MOST_PACKAGES) return owners;
  for (const name of unowned) {
    const answer = await people(ask, `Who owns package ${plainText(name)}? (${PEOPLE}; empty: the admins) `);
    if (answer.length > 0) owners.set(name, answer);
  }
  return owners;
}

/** Asks whether clusters can install what is merged at once, if merges replaced images of merged bundles. */
async function isPublished({ merges, of }: OpenQuestions['rebuilt'], ask: Ask): Promise<boolean> {
  if (merges === 0) return false;
  const question = `${merges} of the last ${amountText(of, 'merge')} replaced the image of a merged bundle. Can clusters install what is merged at once? [y/N] `;
  return /^y(?:es)?$/i.test((await ask(question)).trim());
}

/** Asks for the order of catalogs whose names give none. */
async function orderOf(unordered: readonly string[], ask: Ask): Promise<readonly string[]> {
  if (unordered.length === 0) return [];
  const names = unordered.map(plainText).join(', ');
  const question = `Do clusters move between the catalogs ${names} when the platform is upgraded? If so, in which order? (names, comma-separated; empty: no) `;
  return (await list(ask, question, (name) => unordered.includes(name), `some of ${names}`)) ?? [];
}
