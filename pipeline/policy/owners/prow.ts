/**
 * Approvers of a path from `OWNERS` files and `OWNERS_ALIASES`, as prow reads them:
 * those of the folder and of every folder above it, unless one of them says
 * `no_parent_owners`; a file with `filters` speaks only of paths that a filter matches.
 *
 * @see https://github.com/kubernetes-sigs/prow/blob/main/pkg/repoowners/repoowners.go
 */

import { compileGoRegexp, type GoRegexp } from '../../../catalog/go/regexp.ts';
import { foldCase, isObject } from '../../../catalog/go/shape.ts';
import { type Steps, spendSteps } from '../../../catalog/go/steps.ts';
import type { Settings } from '../../settings.ts';

/** What one `OWNERS` file says. */
export interface OwnersFile {
  readonly noParentOwners: boolean;
  /** Approvers by pattern of paths relative to the file's folder; undefined matches everything. */
  readonly approvers: readonly {
    readonly pattern: GoRegexp | undefined;
    readonly logins: readonly string[];
  }[];
  /** Filters that are not read, so that nobody is added by them. */
  readonly unread: readonly string[];
}

/** Largest size of all expressions of a file together, in instructions (`GoRegexp.size`): each may run for every path. */
const MOST_INSTRUCTIONS = 2000;

/** Logins by alias, lower case. */
type Aliases = ReadonlyMap<string, readonly string[]>;

/** Reads `OWNERS_ALIASES`; a file that prow would refuse has no aliases. */
export function readAliases(settings: Settings | undefined): Aliases {
  const aliases = new Map<string, readonly string[]>();
  for (const [alias, members] of entriesOf(settings?.value, 'aliases')) {
    // `{group: {a, b}}` is a list of people to prow.
    const logins = isObject(members) ? Object.keys(members) : textList(members);
    const name = normal(alias);
    // Two spellings of one name: which one counts is not defined, so nobody is meant.
    aliases.set(name, aliases.has(name) ? [] : logins.map(normal));
  }
  return aliases;
}

/**
 * Reads an `OWNERS` file; `unread` has the filters whose pattern cannot be read, and those that are too large in total.
 *
 * @throws StepsError
 */
export function readOwnersFile(settings: Settings | undefined, steps: Steps): OwnersFile {
  const value = settings?.value;
  // Go reads options into one struct, whichever key they stand under.
  const options = fieldsOf(value, 'options').flatMap((one) => fieldsOf(one, 'no_parent_owners'));
  // A null leaves a field of Go as it is.
  const noParentOwners = options.filter((one) => one !== null).at(-1) === true;
  return { ...approversBy(value, steps), noParentOwners };
}

/** Who approves which files by an `OWNERS` file. `unread` has the filters that are not supported, or too large together. */
function approversBy(value: unknown, steps: Steps): Omit<OwnersFile, 'noParentOwners'> {
  // As prow does: people at the top make it ignore all filters.
  if (PEOPLE.some((key) => textList(fieldOf(value, key)).length > 0))
    return { approvers: [{ pattern: undefined, logins: approversIn(value) }], unread: [] };
  const filters = entriesOf(value, 'filters');
  const approvers: OwnersFile['approvers'][number][] = [];
  const unread: string[] = [];
  let size = 0;
  for (const [source, config] of filters) {
    const pattern = source === '.*' ? undefined : compileGoRegexp(source, steps);
    size += pattern?.size ?? 0;
    if (source !== '.*' && (!pattern || size > MOST_INSTRUCTIONS)) unread.push(source);
    else approvers.push({ pattern, logins: approversIn(config) });
  }
  return { approvers, unread };
}

/** Any of these makes prow read a file without its filters. */
const PEOPLE = ['approvers', 'reviewers', 'required_reviewers', 'labels'];

/** The approvers of a file or of one of its filters. */
function approversIn(config: unknown): string[] {
  return textList(fieldOf(config, 'approvers')).map(normal);
}

/** The entries of a mapping that Go's reader of JSON ends up with: it adds those of a second one, and a null begins anew. */
function entriesOf(value: unknown, name: string): [string, unknown][] {
  const entries = new Map<string, unknown>();
  for (const one of fieldsOf(value, name)) {
    if (one === null) entries.clear();
    if (isObject(one)) for (const [key, own] of Object.entries(one)) entries.set(key, own);
  }
  return [...entries];
}

/** The list of a field that Go's reader of JSON ends up with. */
function fieldOf(value: unknown, name: string): unknown {
  return fieldsOf(value, name).at(-1);
}

/**
 * All values of a field, in the order in which Go's reader of JSON meets them: it knows the field by a key in upper case, too,
 * and the keys are sorted, so that the usual one comes last.
 */
function fieldsOf(value: unknown, name: string): unknown[] {
  if (!isObject(value)) return [];
  const keys = Object.keys(value).filter((key) => foldCase(key) === foldCase(name));
  return keys.sort().map((key) => value[key]);
}

/** What a login costs, in steps. */
const STEPS_OF_LOGIN = 10;

/**
 * Logins of those who may approve a path, lower case.
 *
 * @param fileIn the `OWNERS` file of a folder (the empty name is the root), if it has one
 * @param steps what is left of the budget: patterns and logins cost steps, since a pull request may add any number of them
 * @throws StepsError if the budget is spent
 */
export async function approversOf(
  path: string,
  fileIn: (folder: string) => Promise<OwnersFile | undefined>,
  { aliases, steps }: { readonly aliases: Aliases; readonly steps: Steps },
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const names = path.split('/');
  // From the nearest folder up to the root.
  for (let length = names.length - 1; length >= 0; length--) {
    const file = await fileIn(names.slice(0, length).join('/'));
    if (!file) continue;
    const relative = names.slice(length).join('/');
    for (const { pattern, logins } of file.approvers) {
      if (pattern !== undefined && !pattern.test(relative, steps)) continue;
      for (const login of logins) {
        const members = aliases.get(login) ?? [login];
        spendSteps(steps, STEPS_OF_LOGIN * members.length);
        for (const member of members) found.add(member);
      }
    }
    // As prow's approve plugin does: it starts at the nearest folder with approvers for the path.
    if (file.noParentOwners && found.size > 0) break;
  }
  return found;
}

/** A login or alias as prow compares it: lower case, without `@`. */
function normal(login: string): string {
  return login.toLowerCase().replace(/^@/, '');
}

/**
 * The texts of a list; lists and mappings in it, or no list at all, give none. sigs.k8s.io/yaml makes a text of a number or
 * a boolean where Go wants one: a login may have digits alone.
 */
function textList(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).map(String);
}
