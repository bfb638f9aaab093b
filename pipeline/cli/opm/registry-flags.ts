/** How registries are reached, by the flags that every command has. */
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import { mirrorsFor } from '../mirror-documents.ts';
import type { Call, World } from './command.ts';

/**
 * The way to the registry of a host.
 *
 * @throws PipelineError `usage` for flags that exclude each other, and for mirrors that cannot be read
 */
export function registries(
  call: Call,
  { registry, terminal }: World,
): (host: string) => Registry | Promise<Registry> {
  for (const [a, b] of EXCLUSIVE) {
    if (call.given(a) && call.given(b))
      throw new PipelineError('usage', `--${a} and --${b} cannot be used together`);
  }
  if (call.flag('skip-tls-verify')) {
    terminal.err('certificates are still verified; set NODE_EXTRA_CA_CERTS to a file with your own CA\n');
  }
  const plainHttp = call.flag('use-http') || call.flag('skip-tls');
  const given = (flag: string): string | undefined => (call.given(flag) ? call.text(flag) : undefined);
  const mirrors = mirrorsFor({ list: call.list, text: given }, terminal.directory);
  return (host) => registry(host, { plainHttp, mirrors });
}

const EXCLUSIVE = [
  ['skip-tls', 'use-http'],
  ['skip-tls', 'skip-tls-verify'],
  ['use-http', 'skip-tls-verify'],
] as const;
