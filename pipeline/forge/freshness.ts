/** Whether a report still holds: what it was made from is read once more before anything follows from it. */
import { createHash } from 'node:crypto';
import type { GivenReview } from '../check/authority/approval.ts';
import type { CheckReport } from '../check/report.ts';
import { type GateForge, holdsOf, type OpenPull, type ReadAgain } from './forge.ts';

/** The data behind a report besides the commits: a digest of 128 bits of the pull request and its reviews. */
export function basisOf(pull: OpenPull, reviews: readonly GivenReview[]): string {
  const facts = [
    pull.number,
    pull.author.id ?? pull.author.login,
    pull.draft,
    holdsOf(pull).sort(),
    pull.base.branch,
    pull.head.commit,
    // Reviews that only comment decide nothing.
    reviews
      .filter(({ state }) => state !== 'commented')
      .map(({ author, state, commit }) => [author.id ?? author.login, state, commit ?? '']),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32);
}

type Freshness =
  | { readonly kind: 'current' }
  /** It is to be checked again. */
  | { readonly kind: 'changed'; readonly why: string }
  /** No open pull request has this head any more. */
  | { readonly kind: 'gone' };

/** What is asked of a forge to read it again. */
type AskedAgain = Pick<GateForge, 'readAgain' | 'readOpen' | 'readReviews' | 'readTip'>;

/**
 * Reads again what the reports of a head were made from: which open pull requests have it, their bases, holds and reviews.
 * The policy and the owners are files of the base. A group of a merge queue has no pull request, and never changes.
 *
 * @param reports all of this head
 * @throws PipelineError as the forge
 */
export async function freshnessOf(
  forge: AskedAgain,
  commit: string,
  reports: readonly CheckReport[],
): Promise<Freshness> {
  const requests = reports.flatMap(({ request, base }) => (request ? [{ ...request, base }] : []));
  if (requests.length === 0) return { kind: 'current' };
  const ungated = requests.flatMap((request) => request.ungated ?? []);
  const branches = [...new Set(requests.map(({ branch }) => branch))];
  const numbers = requests.map(({ number }) => number);
  const again = await forge.readAgain?.(numbers, branches);
  const open = (again?.open ?? (await forge.readOpen())).filter(({ head }) => head.commit === commit);
  if (open.length === 0) return { kind: 'gone' };
  // One that is for another branch now may be gated.
  const isUngated = ({ number, base }: OpenPull): boolean =>
    ungated.some((one) => one.number === number && one.branch === base.branch);
  const gated = open.filter((one) => !isUngated(one));
  if (numbersOf(gated) !== numbersOf(requests)) return changedSince('other pull requests have the same head');
  const { reviews, tips } = again ?? (await readApart(forge, numbers, branches));
  for (const pull of gated) {
    const request = requests.find(({ number }) => number === pull.number);
    if (request?.basis !== basisOf(pull, reviews.get(pull.number) ?? []))
      return changedSince(`#${pull.number} has changed`);
    if (request.base !== tips.get(request.branch)) return changedSince(`${request.branch} has new commits`);
  }
  return { kind: 'current' };
}

/** Reads reviews and tips one by one, on a forge that does not give them in one answer. */
async function readApart(
  forge: AskedAgain,
  numbers: readonly number[],
  branches: readonly string[],
): Promise<Omit<ReadAgain, 'open'>> {
  const [reviews, tips] = await Promise.all([
    Promise.all(numbers.map(async (number) => [number, await forge.readReviews(number)] as const)),
    Promise.all(branches.map(async (branch) => [branch, await forge.readTip(branch)] as const)),
  ]);
  return { reviews: new Map(reviews), tips: new Map(tips) };
}

/** The numbers in their order, as one text that can be compared. */
function numbersOf(pulls: readonly { readonly number: number }[]): string {
  return pulls
    .map(({ number }) => number)
    .sort((a, b) => a - b)
    .join();
}

function changedSince(why: string): Freshness {
  return { kind: 'changed', why };
}
