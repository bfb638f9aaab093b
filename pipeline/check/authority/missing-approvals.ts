/** The missing approvals, and who can give them. */

import { type Person, samePerson } from '../../policy/identity.ts';
import type { Missing } from './required-approvals.ts';

export interface Need {
  /** `author`: only a new commit helps. */
  readonly who: 'owner' | 'admin' | 'author';
  /** How many approvals; 1 for the author. */
  readonly count: number;
  /** Logins of the people who can give it; empty if the policy names nobody. */
  readonly from: readonly string[];
  /** For what, as subjects are named; empty for the pull request as a whole. */
  readonly subjects: readonly string[];
  /** Why, in words. */
  readonly why: string;
}

/** Logins of people other than those who cannot speak here. */
export function loginsBut(people: readonly Person[], without: readonly Person[]): string[] {
  return people
    .filter((person) => person.bot !== true && !without.some((other) => samePerson(person, other)))
    .map(({ login }) => login);
}

export interface Candidates {
  /** Logins of admins, and of owners, who may still approve. */
  readonly admins: readonly string[];
  readonly owners: readonly string[];
  readonly subject: string;
  readonly why: string;
}

/** Who can give what is missing for a subject. Where owners are too few, admins stand in for them. */
export function needsFor(missing: Missing, { admins, owners, subject, why }: Candidates): Need[] {
  const rest = { subjects: [subject], why };
  // Do not ask a person twice: someone who is an admin and an owner gives the admin's approval.
  const free = missing.admins > 0 ? owners.filter((login) => !admins.includes(login)) : owners;
  const standIn = missing.owners > free.length;
  const needs: Need[] = [];
  if (standIn) {
    const from = [...new Set([...admins, ...owners])];
    const count = missing.admins + missing.owners;
    // If there are too few admins, owners cannot help: only admins are listed, so that the need shows as one
    // that nobody can meet.
    needs.push({ who: 'admin', count, from: admins.length < missing.admins ? admins : from, ...rest });
  } else {
    if (missing.admins > 0) needs.push({ who: 'admin', count: missing.admins, from: admins, ...rest });
    if (missing.owners > 0) needs.push({ who: 'owner', count: missing.owners, from: free, ...rest });
  }
  return needs;
}

/**
 * Merges missing approvals that the same people can give. Admins come before owners: an admin's approval also counts for an
 * owner's. What is missing from the author is not an approval, so only equal reasons are merged.
 */
export function mergeNeeds(needs: readonly Need[]): Need[] {
  const groups = new Map<
    string,
    { readonly need: Need; readonly subjects: Set<string>; readonly whys: Set<string> }
  >();
  for (const need of needs) {
    const authorReason = need.who === 'author' ? need.why : '';
    const key = JSON.stringify([need.who, need.count, need.from, authorReason]);
    const group = groups.get(key) ?? { need, subjects: new Set(), whys: new Set() };
    groups.set(key, group);
    for (const subject of need.subjects) group.subjects.add(subject);
    // What was merged before has several reasons.
    for (const why of need.why.split('; ')) group.whys.add(why);
  }
  const merged = [...groups.values()].map(({ need, subjects, whys }) => ({
    ...need,
    subjects: [...subjects],
    why: [...whys].join('; '),
  }));
  const rank = { author: 0, admin: 1, owner: 2 };
  return merged.sort((a, b) => rank[a.who] - rank[b.who]);
}

/** One line that names what is missing first. */
export function needText(needs: readonly Need[]): string {
  const [first] = needs;
  if (!first) return '';
  const more = needs.length > 1 ? `; and ${needs.length - 1} more` : '';
  if (first.who === 'author') return `needs a new commit: ${first.why}${more}`;
  const role = first.who === 'admin' ? 'an admin' : 'an owner';
  const what = first.subjects.length > 0 ? ` for ${listText(first.subjects, 3)}` : '';
  const times = first.count > 1 ? `${first.count} approvals` : 'approval';
  const from =
    first.from.length === 0
      ? `${role}, but the policy names nobody else who can give it`
      : `${listText(
          first.from.map((login) => `@${login}`),
          4,
        )} (${role})`;
  return `needs ${times} from ${from}${what}: it ${first.why}${more}`;
}

/** Words as a list for people: `a, b or 3 others`. @param most how many are named */
function listText(words: readonly string[], most: number): string {
  // One more takes no more room than saying that there is one more.
  const isLong = words.length > most + 1;
  const shown = isLong ? [...words.slice(0, most), `${words.length - most} others`] : [...words];
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}
