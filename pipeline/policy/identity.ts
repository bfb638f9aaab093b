/**
 * Who is who. Numbers say it: a login can be given up and taken by somebody else, so
 * wherever both sides have a number, only the numbers are compared.
 */

/** An account as GitHub names it in an event, a review or a commit. */
export interface Person {
  readonly login: string;
  /** Undefined only where there is no GitHub to ask: a person named on a command line. */
  readonly id: number | undefined;
  /** Whether it is the account of a program; those never approve. */
  readonly bot?: boolean;
}

/** One line of an owners' list. */
export type Identity = AccountIdentity | TeamIdentity;

interface AccountIdentity {
  readonly kind: 'account';
  readonly login: string;
  readonly id: number | undefined;
}

interface TeamIdentity {
  readonly kind: 'team';
  /** `organization/team`, lower case. */
  readonly team: string;
}

/** `login` or `login[bot]`, perhaps with `#number`. The policy's schema has the same patterns. */
const ACCOUNT = /^([A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})?(?:\[bot\])?)(?:#([1-9][0-9]{0,15}))?$/;
const TEAM = /^@([A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9_.-]{1,100})$/;

/** Reads `login`, `login#number` or `@organization/team`; undefined for anything else. */
export function parseIdentity(text: string): Identity | undefined {
  const [, login, id] = ACCOUNT.exec(text) ?? [];
  if (login !== undefined) return { kind: 'account', login, id: id === undefined ? undefined : Number(id) };
  const team = TEAM.exec(text)?.[1];
  return team === undefined ? undefined : { kind: 'team', team: team.toLowerCase() };
}

/** An identity as it is written. */
export function formatIdentity(identity: Identity): string {
  if (identity.kind === 'team') return `@${identity.team}`;
  return identity.id === undefined ? identity.login : `${identity.login}#${identity.id}`;
}

/** Whether two names of accounts mean the same one: by number, else by login whatever its case. */
export function samePerson(a: Omit<Person, 'bot'>, b: Omit<Person, 'bot'>): boolean {
  if (a.id !== undefined && b.id !== undefined) return a.id === b.id;
  return a.login.toLowerCase() === b.login.toLowerCase();
}

/** What GitHub says of the names in owners' lists. A name that is absent was not asked for. */
export interface Directory {
  /** Number of each account by lower-case login; null for a login that nobody has. */
  readonly accounts: ReadonlyMap<string, number | null>;
  /** Members by `organization/team`, lower case; absent when it cannot be read. */
  readonly teams: ReadonlyMap<string, readonly Person[]>;
}

export const EMPTY_DIRECTORY: Directory = { accounts: new Map(), teams: new Map() };

/** A list of owners with teams opened, and what of the list does not count. */
interface People {
  readonly people: readonly Person[];
  /** Why an entry does not count, in words. */
  readonly ignored: readonly string[];
}

interface ResolveOptions {
  readonly directory: Directory;
  readonly allowTeams: boolean;
}

/** The people whom identities stand for. Nobody is added when in doubt. */
export function resolvePeople(identities: readonly Identity[], options: ResolveOptions): People {
  const people = new DistinctPeople();
  const ignored: string[] = [];
  for (const identity of identities) {
    const found =
      identity.kind === 'team' ? ofTeam(identity, options) : ofAccount(identity, options.directory);
    if (typeof found === 'string') ignored.push(found);
    else for (const person of found) people.add(person);
  }
  return { people: people.all, ignored };
}

/** People, each once. As {@link samePerson} of each two would say, in one step for each: a pull request may name thousands. */
class DistinctPeople {
  readonly all: Person[] = [];
  readonly #ids = new Set<number>();
  readonly #logins = new Set<string>();
  /** Of those whose number is not known: such a person and one with a number and this login count as the same. */
  readonly #loginsAlone = new Set<string>();

  /** Adds a person who is not there yet. Ids decide, as logins may change; without one, the login does. */
  add(person: Person): void {
    const login = person.login.toLowerCase();
    const { id } = person;
    const isKnown =
      id === undefined ? this.#logins.has(login) : this.#ids.has(id) || this.#loginsAlone.has(login);
    if (isKnown) return;
    this.all.push(person);
    this.#logins.add(login);
    if (id === undefined) this.#loginsAlone.add(login);
    else this.#ids.add(id);
  }
}

/** The members of a team, or why it stands for nobody. */
function ofTeam(
  { team }: TeamIdentity,
  { directory, allowTeams }: ResolveOptions,
): readonly Person[] | string {
  if (!allowTeams) return `@${team}: teams are not allowed (owners.allowTeams)`;
  return (
    directory.teams.get(team) ?? `@${team}: cannot read its members, which requires the token of a GitHub App`
  );
}

/** The person whom an account stands for, or why it stands for nobody. */
function ofAccount(identity: AccountIdentity, directory: Directory): readonly Person[] | string {
  const { login, id } = identity;
  const actual = directory.accounts.get(login.toLowerCase());
  // The directory gives null for a login that nobody has, and undefined for one that was not asked for.
  if (actual === null) return `${login}: no such GitHub account`;
  if (id !== undefined && typeof actual === 'number' && actual !== id) {
    return `${login}#${id}: the login now belongs to account ${actual}`;
  }
  return [{ login, id: id ?? actual }];
}
