/** Catalogs with more documents than a publish takes: a merge must not keep them from being published. */
import { blobCount, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Member, TouchedCatalog } from '../world/touched-catalog.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Findings about catalogs with more documents than the policy's limit, by what is read of their files. */
export function checkSizes(
  touched: readonly TouchedCatalog[],
  { limits: { documents } }: Pick<Policy, 'limits'>,
): CatalogResult {
  const findings: Finding[] = [];
  const known: Finding[] = [];
  for (const { before, after, members, places } of touched) {
    const sizeOf = ({ context }: Member, side: 'before' | 'after'): number =>
      blobCount((side === 'before' ? before : after)?.blobs ?? NO_BLOBS) + blobCount(context[side].blobs);
    for (const member of members) {
      if (sizeOf(member, 'after') <= documents) continue;
      const list = sizeOf(member, 'before') > documents ? known : findings;
      list.push({
        rule: 'fbc/limits',
        severity: 'error',
        message: `catalog ${member.name} has more than ${documents} documents`,
        location: { file: places.find((one) => one.catalog === member.name)?.path ?? '', line: 1, column: 1 },
        hint: 'raise limits.docs in the policy',
        catalogs: [member.name],
      });
    }
  }
  return { findings, known, diffs: [] };
}
