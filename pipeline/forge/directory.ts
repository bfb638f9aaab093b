/** The names in owners' lists, looked up on a forge. */
import type { Directory, Identity, Person } from '../policy/identity.ts';

/** Names of each kind that are looked up for one pull request at most. */
const MOST_NAMES = 200;

/** The names to look up, each once. */
export interface Names {
  /** In lower case. */
  readonly logins: readonly string[];
  /** As `organization/team`. */
  readonly teams: readonly string[];
}

export function namesIn(identities: readonly Identity[]): Names {
  const logins = identities.flatMap((one) => (one.kind === 'account' ? one.login.toLowerCase() : []));
  const teams = identities.flatMap((one) => (one.kind === 'team' ? one.team : []));
  return { logins: firstOf(logins), teams: firstOf(teams) };
}

function firstOf(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MOST_NAMES);
}

/** How a forge looks up one name; undefined for what the account may not see. */
export interface Lookups {
  /** The number of an account; null for a login without an account. */
  readonly accountNumber: (login: string) => Promise<number | null | undefined>;
  readonly membersOf: (team: string) => Promise<readonly Person[] | undefined>;
}

/**
 * Looks identities up one after another: people host these forges themselves. What cannot be found out is absent, and
 * then counts for nobody.
 */
export async function directoryOf(identities: readonly Identity[], lookups: Lookups): Promise<Directory> {
  const { logins, teams } = namesIn(identities);
  return {
    accounts: await knownOf(logins, lookups.accountNumber),
    teams: await knownOf(teams, lookups.membersOf),
  };
}

/** What was found of names, looked up one after the other. Names of which nothing is known are left out. */
async function knownOf<T>(
  names: readonly string[],
  lookUp: (name: string) => Promise<T | undefined>,
): Promise<Map<string, T>> {
  const known = new Map<string, T>();
  for (const name of names) {
    const found = await lookUp(name);
    if (found !== undefined) known.set(name, found);
  }
  return known;
}
