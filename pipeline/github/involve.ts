/** Whom and what a report calls for: corrections that can be taken with a click, reviews that are missing, a label. */
import type { Involving, Reported } from '../forge/forge.ts';
import { plain } from '../text.ts';
import { followLabels } from './follow-labels.ts';
import type { PostRequest } from './post-report.ts';
import { postSuggestions } from './post-suggestions.ts';
import { askForReviews } from './request-reviews.ts';

/**
 * Offers suggestions, sets the label of the result and asks for the reviews that are missing, as far as the policy says so.
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
