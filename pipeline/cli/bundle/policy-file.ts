/** The severities of rules in a policy that the command line names. */
import { resolve } from 'node:path';
import type { SeverityOf } from '../../../catalog/rules/rule.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { severitiesOf } from '../../policy/severity.ts';

/**
 * The severities of rules by a policy file.
 *
 * @throws PipelineError `usage` for a file that is not a policy, `not-found` or `io` for one that cannot be read
 */
export function severitiesInFile(file: string, directory: string): SeverityOf {
  const { policy, findings } = readPolicy(readFileBytes(resolve(directory, file)));
  if (policy) return severitiesOf(policy);
  const [first] = findings;
  throw new PipelineError('usage', `${file}:${first?.location.line ?? 1}: ${first?.message ?? 'no policy'}`);
}
