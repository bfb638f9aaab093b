/** The function's environment, read into a typed value. */
import { PipelineError } from '../../pipeline/error.ts';
import type { PublishHost } from '../publish.ts';

/**
 * `PORTOLAN_REPOSITORY` is the directory of the clone; `PORTOLAN_AUTHFILE` and `PORTOLAN_PLAIN_HTTP`
 * (hosts, with commas between) may be left out.
 *
 * @throws PipelineError `usage`
 */
export function hostFrom(environment: Readonly<Record<string, string | undefined>>): PublishHost {
  const repository = environment['PORTOLAN_REPOSITORY'];
  if (repository === undefined || repository === '') {
    throw new PipelineError('usage', 'PORTOLAN_REPOSITORY is not set', {
      hint: 'set it to the directory of the clone that the function reads',
    });
  }
  return {
    repository,
    environment,
    authfile: environment['PORTOLAN_AUTHFILE'],
    plainHttp: (environment['PORTOLAN_PLAIN_HTTP'] ?? '').split(',').filter((host) => host !== ''),
    log: (line) => void process.stdout.write(`${line}\n`),
    now: new Date(),
  };
}

/** The host as Lambda's environment tells it. */
export function host(): PublishHost {
  return hostFrom(process.env);
}
