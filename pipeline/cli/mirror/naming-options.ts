/** The options of `mirror plan` and `mirror sync` that are about names in the mirror. */
import type { PlanRequest } from '../../../catalog/mirror/plan-request.ts';
import type { Scope } from '../../../catalog/mirror/scope.ts';
import { STYLES } from '../../../catalog/mirror/style.ts';
import { type Command, type Invocation, numberOption, type Option } from '../command.ts';

export const NAMING_OPTIONS: Readonly<Record<string, Option>> = {
  to: {
    value: 'REGISTRY[/PATH]',
    description: 'registry and path of the mirror; with --style oc also file://PATH',
  },
  style: {
    value: STYLES.join('|'),
    description: 'naming scheme for the images in the mirror (default: nested)',
  },
  'max-components': {
    value: 'N',
    description: 'maximum number of path components in the mirror; 0 for no limit',
  },
  scope: {
    value: 'SCOPE',
    description: 'scope of each mirror entry: repository, namespace or registry',
  },
  'icsp-scope': { value: 'SCOPE', description: 'scope of each entry in ImageContentSourcePolicies only' },
  'idms-scope': { value: 'SCOPE', description: 'alias of --scope' },
};

const SCOPES: readonly Scope[] = ['repository', 'namespace', 'registry'];

/** @throws PipelineError `usage` */
export function namingOptions(
  command: Command,
  invocation: Invocation,
): Pick<PlanRequest, 'to' | 'style' | 'maxComponents' | 'scope' | 'policyScope'> {
  return {
    to: invocation.needed('to'),
    style: invocation.word('style', STYLES),
    maxComponents: numberOption(command, invocation, 'max-components'),
    scope: invocation.word('scope', SCOPES) ?? invocation.word('idms-scope', SCOPES),
    policyScope: invocation.word('icsp-scope', SCOPES),
  };
}
