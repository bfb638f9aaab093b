/** What a run has published, in its outputs and its summary. */
import { setFailed, setOutput, summary } from '@actions/core';
import type { PublishReceipt } from '../publish/receipt.ts';
import { code, escaped } from '../report/markdown.ts';
import { plain } from '../text.ts';

/** How publishing one catalog ended. */
export type Ended =
  | { readonly catalog: string; readonly kind: 'published'; readonly receipt: PublishReceipt }
  | { readonly catalog: string; readonly kind: 'refused'; readonly why: string }
  | { readonly catalog: string; readonly kind: 'unchanged' | 'retired' };

interface Run {
  /** Id of the commit. */
  readonly commit: string;
  readonly ended: readonly Ended[];
  /** Where the published files are. */
  readonly out: string;
  /** What follows the table. */
  readonly rings: string;
}

/** Sets the outputs and writes the summary; what was refused fails the run. */
export async function setPublished({ commit, ended, out, rings }: Run): Promise<void> {
  const receipts = ended.flatMap((one) =>
    one.kind === 'published' ? [[one.catalog, one.receipt] as const] : [],
  );
  setOutput('published', JSON.stringify(Object.fromEntries(receipts)));
  setOutput('files', out);
  await summary.addRaw(`${summaryOf(commit, ended)}${rings}`).write();
  const refused = ended.filter(({ kind }) => kind === 'refused').map(({ catalog }) => catalog);
  if (refused.length > 0) setFailed(`not published: ${plain(refused.join(', '))}`);
}

function summaryOf(commit: string, ended: readonly Ended[]): string {
  const rows = ended.map((one) => {
    const what =
      one.kind === 'published' ? code(one.receipt.image) : one.kind === 'refused' ? escaped(one.why) : '';
    const digest = one.kind === 'published' ? code(one.receipt.digest) : '';
    return `| ${escaped(one.catalog)} | ${one.kind} | ${what} | ${digest} |`;
  });
  return [
    `## Catalogs of ${commit.slice(0, 12)}`,
    '',
    '| catalog | | image | digest |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
