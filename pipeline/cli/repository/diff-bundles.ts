/** Two bundles side by side, as whoever approves the upgrade needs it. */
import { inspectedBundle } from '../../../catalog/bundle/inspect.ts';
import { reviewedFiles, reviewUpgrade, type UpgradeReview } from '../../../catalog/olm/upgrade-review.ts';
import { withBundle } from '../../catalogs/bundle/open.ts';
import { PipelineError } from '../../error.ts';
import { upgradePage } from '../../report/page/upgrade-page.ts';
import { reviewText } from '../../report/review-text.ts';
import type { ExitCode, Terminal } from '../../terminal.ts';
import type { Invocation } from '../command.ts';
import { renderingOf } from '../rendering.ts';

const FORMATS = {
  text: reviewText,
  json: (review) => `${JSON.stringify(review, null, 2)}\n`,
  html: upgradePage,
} satisfies Readonly<Record<string, (review: UpgradeReview) => string>>;

/**
 * Prints what the upgrade requires.
 *
 * @throws PipelineError `usage` for a bundle without a ClusterServiceVersion
 */
export async function diffBundles(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const format = FORMATS[invocation.word('format', ['text', 'json', 'html']) ?? 'text'];
  const [older = '', newer = ''] = invocation.operands;
  const rendering = renderingOf(invocation, terminal);
  const read = (name: string) =>
    withBundle(name, rendering, async ({ source }) => {
      const bundle = await inspectedBundle(source);
      if (bundle.csv) return reviewedFiles(bundle);
      throw new PipelineError('usage', `${name} has no ClusterServiceVersion`);
    });
  const [before, after] = [await read(older), await read(newer)];
  await terminal.out(format(reviewUpgrade(before, after)));
  return 0;
}
