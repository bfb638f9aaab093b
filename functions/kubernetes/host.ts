/** The ports of a delivery, as the Kubernetes host has them; made once for each process. */
import { readText } from '../../pipeline/directory.ts';
import type { Store } from '../../pipeline/oci/image/build-cache.ts';
import { directoryStore } from '../../pipeline/oci/image/stores.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { authfileCredentials } from '../../pipeline/oci/registry/credentials.ts';
import type { RecordStore } from '../../pipeline/ports.ts';
import type { DeliveryPorts, ReportPorts } from '../../pipeline/publish/delivery/ports.ts';
import { DOCUMENTS } from '../../pipeline/publish/documents.ts';
import { recordFence } from '../../pipeline/publish/fence-records.ts';
import { PAGE } from '../../pipeline/publish/page.ts';
import { type App, logForge, openApp, pullChecker, releaserLookup } from '../app.ts';
import { branchOpener } from '../branch.ts';
import { ownRoleCredentials } from '../ecr/credentials.ts';
import { bucketRecords } from '../s3/records.ts';
import { type Database, openDatabase } from './database.ts';
import type { Settings } from './env.ts';
import { openQueues, type Queues } from './queue.ts';
import { createRecords, tableRecords } from './records.ts';
import { fileSecret, renewedCredentials } from './secret.ts';
import { type ScrapedTelemetry, tracedStep } from './telemetry.ts';

/** The role of a process that reads one pull request. */
export const READER = 'read';

export interface Host {
  readonly settings: Settings;
  readonly telemetry: ScrapedTelemetry;
  readonly database: Database;
  readonly queues: Queues;
  readonly records: RecordStore;
  /** Undefined where no App is set up. */
  readonly app: App | undefined;
  readonly ports: DeliveryPorts;
  readonly reports: ReportPorts;
  /** What builds remember of each other. */
  readonly store: Store;
  /** Leaves work that is not done after so many ms to others, and ends. */
  close(patience: number): Promise<void>;
}

/**
 * Opens everything that a role works with: database, queues, records and ports.
 *
 * @param supervises whether this process looks after messages whose worker died
 * @throws PipelineError, retryable, while the database cannot be reached
 */
export async function openHost(
  settings: Settings,
  telemetry: ScrapedTelemetry,
  supervises: boolean,
): Promise<Host> {
  const { database: url, connections, silence, sources, environment, plainHttp, authfile } = settings;
  const { log } = telemetry;
  const database = openDatabase({ url, connections, log });
  // The workers' signs of life are looked for twice in each silence, as by default.
  const times = silence === undefined ? {} : { silence, look: Math.ceil(silence / 2) };
  const queues = await createRecords(database)
    .then(() => openQueues({ url, connections, database, supervises, times, log }))
    // Who tries again opens connections anew.
    .catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
  telemetry.depths(queues.depths);
  const records = recordsIn(settings, database);
  const filed = renewedCredentials(() => authfileCredentials({ authfile, environment }));
  const credentials = ownRoleCredentials(filed, () => new Date());
  // Who sets up the host says which registries speak plain HTTP: these may be on an internal network.
  const registry = createRegistryClient({ credentials, plainHttp, internal: plainHttp, environment });
  const { secrets, pages } = settings;
  // The same program, in the role that reads.
  const reader = { file: process.argv[1] ?? '', words: [READER] };
  const app =
    secrets.app === undefined
      ? undefined
      : openApp(settings, { secret: fileSecret(secrets.app), credentials, telemetry, reader });
  return {
    settings,
    telemetry,
    database,
    queues,
    records,
    app,
    ports: {
      open: branchOpener(settings, { token: app?.forge.token, log }),
      registry,
      // On the database's own records, wherever documents are.
      fence: recordFence(tableRecords(database)),
      records,
      queue: queues.queue('work'),
      reports: queues.queue('reports'),
      isAnonymous: true,
      signer: secrets.signing === undefined ? undefined : { kind: 'key', key: readText(secrets.signing) },
      releaserOf: app && releaserLookup(sources, app, registry),
      checkOf: app?.forge.checkOf,
      gate: app && pullChecker(sources, app),
      now: () => new Date(),
      measured: (step, seconds, repository) => {
        telemetry.measured(step, seconds, repository);
        // The lag starts at the commit, before this message was sent: it is not a part of its span.
        if (step !== 'lag') tracedStep(step, seconds);
      },
      log,
    },
    reports: {
      records,
      forge: app?.forge ?? logForge(telemetry),
      deployed: app?.forge.deployed,
      linkTo: pages === undefined ? undefined : (documents) => `${pages}/${encodeURI(documents)}${PAGE}`,
      log,
    },
    store: directoryStore(settings.cache),
    close: async (patience) => {
      await queues.stop(patience);
      registry.close();
      await database.close();
    },
  };
}

/** Records in the database; documents, which are large and decide nothing, in a bucket where one is named. */
export function recordsIn(
  { bucket, environment }: Pick<Settings, 'bucket' | 'environment'>,
  database: Database,
): RecordStore {
  const table = tableRecords(database);
  if (bucket === undefined) return table;
  // An address that is set is of a store that stands in for S3: its buckets are part of the path.
  const inPath = (environment['AWS_ENDPOINT_URL'] ?? '') !== '';
  const documents = bucketRecords({ bucket, prefix: '', inPath });
  const storeFor = (key: string): RecordStore => (key.startsWith(DOCUMENTS) ? documents : table);
  return {
    get: (key) => storeFor(key).get(key),
    put: (key, bytes) => storeFor(key).put(key, bytes),
    replace: (key, bytes, version) => storeFor(key).replace(key, bytes, version),
    list: (prefix) => storeFor(prefix).list(prefix),
  };
}
