/**
 * The program of the host's containers: its argument is its role. `receive` and `work` go on until they are told to
 * stop; `reconcile`, `drift`, `smoke`, `status`, `rings`, `ring`, `send`, `new-epoch`, `reset-fence` and `redrive` do one thing and end.
 */
import { serveReader } from '../../pipeline/check/confined/reader.ts';
import { settings } from './env.ts';
import { type Host, openHost, READER } from './host.ts';
import { SERVICES, type Service, TASKS } from './roles.ts';
import { fileSecret } from './secret.ts';
import { serveRoutes } from './server.ts';
import { startTracing, telemetryOf } from './telemetry.ts';

const [role = '', ...words] = process.argv.slice(2);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const telemetry = telemetryOf(role, print);

/** How long the database is waited for when a process starts, in ms: Kubernetes starts both at the same time. */
const WAITING = 60_000;

/** Runs the role that the process was started with. @returns the exit code */
async function main(): Promise<number> {
  const [service, task] = [SERVICES[role], TASKS[role]];
  if (!service && !task) {
    telemetry.log(
      `unknown role ${JSON.stringify(role)}: ${Object.keys({ ...SERVICES, ...TASKS }).join(', ')}`,
    );
    return 2;
  }
  const host = await openWhenReady(role === 'work');
  const endTracing = startTracing(role, host.settings.environment);
  try {
    if (task) return await task(host, print, words);
    if (service) await runUntilStopped(host, service);
    return 0;
  } finally {
    await host.close(host.settings.stopping.leave);
    await endTracing();
  }
}

/**
 * Opens the host's connections. The database may start later than this process, so it is tried again for a while.
 *
 * @param supervises whether this process looks after messages whose worker died
 */
async function openWhenReady(supervises: boolean): Promise<Host> {
  const read = settings();
  for (const until = Date.now() + WAITING; ; ) {
    try {
      return await openHost(read, telemetry, supervises);
    } catch (error) {
      if (Date.now() > until) throw error;
      telemetry.log(`cannot start yet: ${error instanceof Error ? error.message : String(error)}`);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

/** Why no webhook could be accepted: the secret that proves them is missing. Undefined if all is well. */
async function lackingSecret(path: string | undefined): Promise<string | undefined> {
  try {
    return (await fileSecret(path)()) === '' ? 'the webhook secret is empty' : undefined;
  } catch (error) {
    return `the webhook secret cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs a service until the process is told to stop; then it is not ready any more. */
async function runUntilStopped(host: Host, start: (host: Host) => Promise<Service>): Promise<void> {
  const { settings: read, database } = host;
  let isStopping = false;
  const stopSignal = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
  const probes = await serveRoutes(
    read.ports.internal,
    {
      'GET /healthz': async () => ({ status: 200, body: 'ok\n' }),
      'GET /readyz': async () => {
        if (isStopping) return { status: 503, body: 'stopping\n' };
        await database.query('select 1');
        const lacking = role === 'receive' ? await lackingSecret(read.secrets.webhook) : undefined;
        if (lacking !== undefined) return { status: 503, body: `${lacking}\n` };
        return { status: 200, body: 'ok\n' };
      },
      'GET /metrics': async () => ({ status: 200, body: await telemetry.metrics() }),
    },
    telemetry.log,
  );
  // If the service does not start, open probes would keep the process alive, and report it as healthy.
  try {
    const service = await start(host);
    telemetry.log('started');
    await stopSignal;
    isStopping = true;
    telemetry.log('stopping');
    await service.stop();
  } finally {
    await probes.stop(0);
  }
}

/** Runs the role, and ends the process with its exit code. */
function start(): Promise<void> {
  return main().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      telemetry.log(`stopped: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    },
  );
}

if (role === READER) serveReader();
else void start();
