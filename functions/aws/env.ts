/** The functions' environment, read into typed values. */

import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, type HostSettings, hostSettings, neededVariable } from '../settings.ts';

/** In AWS's console people read documents where no `pages` are set. */
export interface Settings extends HostSettings {
  readonly queue: string;
  /** The queue of what is to be reported. */
  readonly reports: string;
  readonly table: string;
  readonly bucket: string;
  /** Name of the bus that hears of publishes; none does when undefined. */
  readonly bus: string | undefined;
  /** Names of secrets in Secrets Manager. */
  readonly secrets: {
    readonly webhook: string | undefined;
    readonly app: string | undefined;
    /** What the names of registries' secrets begin with, before a slash and the host. */
    readonly registries: string | undefined;
  };
  /** The key that signs, and the address of KMS; nothing is signed with a key when undefined. */
  readonly signing: { readonly key: string; readonly address: string } | undefined;
  /** Set when something else stands in for the cloud. */
  readonly endpoint: string | undefined;
}

/** The settings in Lambda's environment. @throws PipelineError `usage` that names the variable */
export function settingsFrom(environment: Environment): Settings {
  const hint = 'set it in functions/aws/template.yaml';
  const needed = neededVariable(environment, hint);
  // A parameter of the stack that is left out gives an empty variable: `||`.
  return {
    ...hostSettings(environment, hint),
    queue: needed('PORTOLAN_QUEUE'),
    reports: needed('PORTOLAN_REPORTS'),
    table: needed('PORTOLAN_TABLE'),
    bucket: needed('PORTOLAN_BUCKET'),
    bus: environment['PORTOLAN_BUS'] || undefined,
    secrets: {
      webhook: environment['PORTOLAN_WEBHOOK_SECRET'] || undefined,
      app: environment['PORTOLAN_APP_SECRET'] || undefined,
      registries: environment['PORTOLAN_REGISTRY_SECRETS'] || undefined,
    },
    signing: signingFrom(environment),
    endpoint: environment['AWS_ENDPOINT_URL'] || undefined,
  };
}

/** The signing key and the address of KMS; undefined unless both are set: without them nothing is signed with a key. */
function signingFrom(environment: Environment): Settings['signing'] {
  const key = environment['PORTOLAN_SIGNING_KEY'];
  const address = environment['AWS_ENDPOINT_URL'] || environment['PORTOLAN_KMS'];
  return key && address ? { key, address } : undefined;
}

/** The name of the function's stack; undefined where something else stands in for it. */
export function stackName(): string | undefined {
  return process.env['PORTOLAN_STACK'] || undefined;
}

/** The settings in Lambda's environment. */
export function settings(): Settings {
  clearLeftovers(process.env);
  return settingsFrom(process.env);
}

/**
 * Removes what a killed call left in the temporary folder. Lambda starts a function that ran out of time or memory anew in the
 * same sandbox, where its clones and layers would fill the disk. A sandbox runs one call at a time, so nobody uses them.
 */
function clearLeftovers({ AWS_LAMBDA_FUNCTION_NAME: lambda, AWS_ENDPOINT_URL: endpoint }: Environment): void {
  // What stands in for the cloud has no sandboxes.
  if (!lambda || endpoint) return;
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith('portolan-')) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}
