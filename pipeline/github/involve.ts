/** Asks people to act on a report: suggested changes, missing reviews, and a label. */
import type { Involving, Reported } from '../forge/forge.ts';
import { plain } from '../text.ts';
import { followLabels } from './follow-labels.ts';
import type { PostRequest } from './post-report.ts';
import { postSuggestions } from './post-suggestions.ts';
import { askForReviews } from './request-reviews.ts';

/**
 * Posts suggestions, sets the result's label and requests the missing reviews, each if the policy asks for it.
 *
 * @throws whatever `attempt` lets through
 */
export async function involve(
  github: PostRequest,
  about: Reported,
  { attempt, info, warning }: Involving,
): Promise<void> {
  const { request } = about.report;
  if (request?.suggestions)
    await attempt('suggestions', async () => void (await postSuggestions(github, about)));
  if (request?.labels) await attempt('labels', () => followLabels(github, about));
  if (!request?.ask) return;
  await attempt('review requests', async () => {
    const { asked, refused } = await askForReviews(github, about);
    if (asked.length > 0) info(plain(`asked for a review: ${asked.join(', ')}`));
    if (refused.length > 0)
      warning(
        plain(`cannot request a review from accounts that are not collaborators: ${refused.join(', ')}`),
      );
  });
}
