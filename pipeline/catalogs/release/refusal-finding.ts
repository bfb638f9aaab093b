/** Why a bundle is not released, as a finding on its settings. */
import type { Finding } from '../../../catalog/finding.ts';
import type { PipelineError } from '../../error.ts';
import { RELEASE_FILE } from './release-config.ts';

export function refusalFinding(
  { message, hint }: PipelineError,
  { package: name, folder }: { readonly package: string; readonly folder: string },
): Finding {
  const location = { file: `${folder}/${RELEASE_FILE}`, line: 1, column: 1 };
  const finding = { rule: 'release/refused', severity: 'error', message, location, package: name } as const;
  return hint === undefined ? finding : { ...finding, hint };
}
