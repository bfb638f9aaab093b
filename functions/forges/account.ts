/** A forge on which Portolan has an account, and asks with its token. */
import type { GateForge } from '../../pipeline/forge/forge.ts';
import type { ForgeClient } from '../../pipeline/forge/http.ts';
import type { Webhooks } from '../../pipeline/forge/webhook.ts';
import type { CommitStatus } from '../../pipeline/ports.ts';

export interface AccountForge {
  readonly client: (url: string, token: () => Promise<string>) => ForgeClient;
  /** @param repository as a source names it */
  readonly forge: (client: ForgeClient, repository: string) => GateForge;
  readonly report: (client: ForgeClient, status: CommitStatus) => Promise<void>;
  /** Whether a status is the newest one of its context already. */
  readonly shows: (client: ForgeClient, status: CommitStatus) => Promise<boolean>;
  /** How it signs and writes webhooks. */
  readonly webhooks: Webhooks;
}
