/** Publishing as a function, whatever host calls it: one request in, one answer out. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../catalog/finding.ts';
import { isObject } from '../catalog/shape.ts';
import { PipelineError } from '../pipeline/error.ts';
import { openRepository } from '../pipeline/git/repository.ts';
import type { PublishReceipt } from '../pipeline/publish/receipt.ts';
import type { PublishChoices } from '../pipeline/publish/target.ts';
import { createRegistryClient } from '../pipeline/registry/client.ts';
import { authfileCredentials } from '../pipeline/registry/credentials.ts';
import type { Environment } from '../pipeline/registry/proxy.ts';
import { publish } from '../pipeline/stages/publish.ts';

/** What is to be published, as a queue or a caller hands it over. */
export interface PublishMessage extends PublishChoices {
  readonly commit: string;
  readonly catalog: string;
}

/** What the host knows. */
export interface PublishHost {
  /** Directory of the clone that holds the commits. */
  readonly repository: string;
  /** Credentials, proxies and the PATH that git is on. */
  readonly environment: Environment;
  readonly authfile?: string | undefined;
  /** Hosts, with their ports, that speak plain HTTP. */
  readonly plainHttp: readonly string[];
  readonly log: (line: string) => void;
  readonly now: Date;
}

export type PublishAnswer =
  | { readonly published: false; readonly findings: readonly Finding[] }
  | {
      readonly published: true;
      readonly receipt: PublishReceipt;
      /** Bytes that were sent to the registry. */
      readonly bytes: number;
      /** The receipt's and the mirror's files, by name. */
      readonly files: Readonly<Record<string, string>>;
    };

const KEYS = ['commit', 'catalog', 'to', 'as', 'base', 'mirrorTo'] as const;

/**
 * Reads a message.
 *
 * @throws PipelineError `usage` that names what is wrong with it
 */
export function readMessage(value: unknown): PublishMessage {
  if (!isObject(value)) throw new PipelineError('usage', 'the message is no object');
  const unknown = Object.keys(value).find((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown !== undefined) {
    throw new PipelineError('usage', `the message has a key ${JSON.stringify(unknown)}`, {
      hint: `it may have: ${KEYS.join(', ')}`,
    });
  }
  for (const key of KEYS) {
    const needed = key === 'commit' || key === 'catalog';
    if (typeof value[key] !== 'string' && (needed || value[key] !== undefined)) {
      throw new PipelineError(
        'usage',
        `the message's ${key} is ${JSON.stringify(value[key])}, expected a text`,
      );
    }
  }
  return value as unknown as PublishMessage;
}

/** @throws PipelineError as the stage; a host may call again for those that are retryable */
export async function handlePublish(message: PublishMessage, host: PublishHost): Promise<PublishAnswer> {
  const { environment, plainHttp, log, now } = host;
  const searchPath = environment['PATH'];
  const repository = await openRepository(host.repository, searchPath === undefined ? {} : { searchPath });
  const credentials = authfileCredentials({ authfile: host.authfile, environment });
  const registry = createRegistryClient({ credentials, plainHttp, internal: plainHttp, environment });
  const out = mkdtempSync(join(tmpdir(), 'portolan-publish-'));
  try {
    const today = now.toISOString().slice(0, 10);
    const published = await publish({ repository, registry, progress: log }, { ...message, out, today });
    if (published.kind !== 'published') return { published: false, findings: published.findings };
    const { receipt, push } = published;
    return { published: true, receipt, bytes: push.bytes, files: filesIn(out) };
  } finally {
    rmSync(out, { recursive: true, force: true });
    registry.close();
    await repository.close();
  }
}

function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}
