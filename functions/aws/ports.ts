/** The ports of a delivery, as AWS has them; made once for each sandbox. */
import { fileURLToPath } from 'node:url';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { authfileCredentials } from '../../pipeline/oci/registry/credentials.ts';
import type { CredentialSource, RecordStore } from '../../pipeline/ports.ts';
import type { DeliveryPorts, ReportPorts } from '../../pipeline/publish/delivery/ports.ts';
import { PAGE } from '../../pipeline/publish/page.ts';
import { type App, logForge, openApp, pullChecker, releaserLookup } from '../app.ts';
import { branchOpener } from '../branch.ts';
import { ecrCredentials } from '../ecr/credentials.ts';
import { bucketRecords } from '../s3/records.ts';
import type { Telemetry } from '../telemetry.ts';
import { makingRepositories } from './ecr.ts';
import type { Settings } from './env.ts';
import { announcerOn } from './events.ts';
import { tableFence } from './fence.ts';
import { kmsSigner } from './kms.ts';
import { fifoQueue } from './queue.ts';
import { secretCredentials } from './registry-secrets.ts';
import { neededSecret } from './secret.ts';

/** Waiting is billed: for a publisher that died, the message comes again later. In ms. */
const PATIENCE = 10_000;

/** What a function that handles deliveries works with on AWS. */
export function portsOf(settings: Settings, telemetry: Telemetry): DeliveryPorts {
  const { environment, plainHttp, table, queue, reports, signing } = settings;
  const app = appOf(settings, telemetry);
  const credentials = credentialsOf(settings);
  // Who sets up the host says which registries speak plain HTTP: these may be on an internal network.
  const registry = makingRepositories(
    createRegistryClient({ credentials, plainHttp, internal: plainHttp, environment }),
  );
  return {
    open: branchOpener(settings, { token: app?.forge.token, log: telemetry.log }),
    registry,
    fence: tableFence(table),
    lease: { patience: PATIENCE },
    records: recordsOf(settings),
    queue: fifoQueue(queue),
    reports: fifoQueue(reports),
    isAnonymous: true,
    signer: signing && kmsSigner(signing.key, signing.address),
    releaserOf: app && releaserLookup(settings.sources, app, registry),
    checkOf: app?.forge.checkOf,
    gate: app && pullChecker(settings.sources, app),
    now: () => new Date(),
    log: telemetry.log,
  };
}

/** What the function that reports is given: no registry, fence or queue. Its App has credentials for registries, as each has. */
export function reportPortsOf(settings: Settings, telemetry: Telemetry): ReportPorts {
  const app = appOf(settings, telemetry);
  return {
    records: recordsOf(settings),
    forge: app?.forge ?? logForge(telemetry),
    deployed: app?.forge.deployed,
    linkTo: linksTo(settings),
    ...(settings.bus === undefined ? {} : announcerOn(settings.bus)),
    log: telemetry.log,
  };
}

/** The records in the bucket. What stands in for S3 has buckets in the path. */
function recordsOf({ bucket, endpoint }: Settings): RecordStore {
  return bucketRecords({ bucket, prefix: '', inPath: endpoint !== undefined });
}

/** The App that acts on the forge. @returns undefined where no App is set up */
export function appOf(settings: Settings, telemetry: Telemetry): App | undefined {
  const { app } = settings.secrets;
  if (app === undefined) return undefined;
  return openApp(settings, {
    secret: neededSecret(app),
    credentials: credentialsOf(settings),
    telemetry,
    reader: READER,
  });
}

/** The program beside the function that checks pull requests; the others check none. */
const READER = { file: fileURLToPath(new URL('./reader.mjs', import.meta.url)), words: [] };

/**
 * Credentials for registries: the function's role for ECR, secrets for hosts that have one, else the
 * authfile.
 */
function credentialsOf({ authfile, environment, secrets }: Settings): CredentialSource {
  const filed = authfileCredentials({ authfile, environment });
  const others = secrets.registries === undefined ? filed : secretCredentials(secrets.registries, filed);
  return ecrCredentials(others, () => new Date());
}

/** Where each partition of AWS has its console, by the beginning of its regions' names. */
const CONSOLES: readonly (readonly [string, string])[] = [
  ['cn-', 'console.amazonaws.cn'],
  ['us-gov-', 'console.amazonaws-us-gov.com'],
  ['eusc-', 'console.amazonaws-eusc.eu'],
];

/** The host of AWS's console for a region. */
function consoleOf(region: string): string {
  return CONSOLES.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'console.aws.amazon.com';
}

/** Where the page of a publish is shown: a site that stands before the bucket, or AWS's own console. */
function linksTo({ pages, bucket, environment }: Settings): (documents: string) => string {
  const region = environment['AWS_REGION'] ?? '';
  const consolePage = `https://${region}.${consoleOf(region)}/s3/object/${bucket}?region=${region}&prefix=`;
  return (documents) => `${pages === undefined ? consolePage : `${pages}/`}${encodeURI(documents)}${PAGE}`;
}
