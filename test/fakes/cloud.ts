/** AWS as ministack has it, with the project's own template deployed there. */
import { execFile } from 'node:child_process';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { folder } from './folder.ts';
import { type Asked, listen, reply, startHost } from './host.ts';
import { ministack } from './ministack.ts';
import { freePort } from './tools.ts';

export interface Cloud {
  readonly endpoint: string;
  /** What the template says of itself, by name. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Sends a push to the webhook's address, signed; answers with the status. */
  push(payload: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Runs `aws`; gives what it printed, read as JSON. */
  aws(...parameters: readonly string[]): Promise<unknown>;
  /** Deploys the stack once more. @returns its outputs */
  deploy(): Promise<Readonly<Record<string, string>>>;
  /** Actions of IAM by the function that called them, such as `Work`; only of a guarded cloud. */
  readonly actions: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface CloudOptions {
  /** The branch's repository over HTTP. */
  readonly git: string;
  readonly branch: string;
  /** A registry that speaks plain HTTP. */
  readonly registry: string;
  /** GitHub's API. */
  readonly github: string;
  /** Who gives jobs their tokens; the one of github.com when left out. */
  readonly issuer?: string;
  /** Whether calls are allowed by the roles' policies only, and recorded. */
  readonly guarded?: boolean;
  /** Opens what stands between the functions and the stand-in, whose host is given. @returns its URL */
  readonly through?: (host: string) => Promise<string>;
}

/** The job that may ask for publishes, and whom its tokens are for. */
export const JOB = { ownerId: 12, workflow: '.github/workflows/publish.yml' } as const;
export const AUDIENCE = 'https://publish.example.com';

/** The number of the repository. */
export const REPOSITORY_ID = 4711;

/** The stand-in, with nothing deployed there. */
export interface EmptyCloud extends Pick<Cloud, 'endpoint' | 'aws' | 'actions'> {
  readonly port: number;
  /** What programs need to ask it in place of AWS. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function emptyCloud(
  guarded = false,
  through?: NonNullable<CloudOptions['through']>,
): Promise<EmptyCloud> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const environment = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint,
  };
  const actions = new Map<string, Set<string>>();
  // The functions ask the recorder, which asks the stand-in.
  const guard = guarded ? { AUTH: 'true', AWS_ENDPOINT_URL: await recorder(port, actions) } : {};
  const between = through && { AWS_ENDPOINT_URL: await through(`127.0.0.1:${port}`) };
  await ministack(port, { ...environment, ...guard, ...between });
  const run = async (...parameters: readonly string[]): Promise<unknown> => {
    const options = { env: { ...process.env, ...environment }, maxBuffer: 1 << 26 };
    const { stdout } = await promisify(execFile)('aws', [...parameters, '--output', 'json'], options);
    return stdout.trimStart().startsWith('{') || stdout.startsWith('[') ? JSON.parse(stdout) : stdout;
  };
  return { port, endpoint, environment, actions, aws: run };
}

/** Makes the App's secret. @returns what it is called */
export async function appSecret({ aws }: Pick<EmptyCloud, 'aws'>): Promise<string> {
  const secret = JSON.stringify({ appId: 1, installationId: 2, privateKey: privateKey() });
  await aws('secretsmanager', 'create-secret', '--name', 'portolan-app', '--secret-string', secret);
  return 'portolan-app';
}

export async function cloud({
  git,
  branch,
  registry,
  github,
  issuer,
  guarded = false,
  through,
}: CloudOptions): Promise<Cloud> {
  const empty = await emptyCloud(guarded, through);
  const { port, endpoint, actions, aws: run } = empty;
  const packaged = join(folder(), 'template.yaml');
  await run('s3', 'mb', 's3://portolan-code');
  const template = guarded ? namedTemplate() : 'functions/aws/template.yaml';
  const source = ['--template-file', template, '--s3-bucket', 'portolan-code'];
  await run('cloudformation', 'package', ...source, '--output-template-file', packaged);
  const secretName = await appSecret(empty);
  const sources = JSON.stringify([
    { repository: 'sea/catalogs', id: REPOSITORY_ID, branch, url: git, job: JOB },
  ]);
  const parameters = {
    Sources: sources,
    PlainHttp: `${registry},${new URL(git).host}`,
    AppSecret: secretName,
    GitHubApi: github,
    Audience: AUDIENCE,
    ...(issuer === undefined ? {} : { TokenIssuer: issuer }),
  };
  const overrides = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const capabilities = ['--capabilities', 'CAPABILITY_IAM', 'CAPABILITY_AUTO_EXPAND'];
  const deploy = ['cloudformation', 'deploy', '--template-file', packaged, '--stack-name', 'portolan'];
  const deployed = async (): Promise<Record<string, string>> => {
    await run(...deploy, ...capabilities, '--parameter-overrides', ...overrides);
    return outputsIn(await run('cloudformation', 'describe-stacks', '--stack-name', 'portolan'));
  };
  const outputs = await deployed();
  const value = await run(
    'secretsmanager',
    'get-secret-value',
    '--secret-id',
    outputs['WebhookSecret'] ?? '',
  );
  const webhookSecret = (value as { SecretString: string }).SecretString;
  const api = /^https:\/\/([^.]+)\./.exec(outputs['Webhook'] ?? '')?.[1];
  const host = `${api}.execute-api.localhost:${port}`;
  return {
    endpoint,
    outputs,
    actions,
    deploy: deployed,
    aws: run,
    push: async (payload, headers = {}) => {
      const signature = `sha256=${createHmac('sha256', webhookSecret).update(payload).digest('hex')}`;
      const all = {
        host,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(payload)),
        'x-github-event': 'push',
        'x-hub-signature-256': signature,
        ...headers,
      };
      return send(port, all, payload);
    },
  };
}

/** The template, whose functions say in each call of AWS who they are. */
function namedTemplate(): string {
  const path = join(folder(), 'template.yaml');
  const here = resolve('functions/aws');
  const text = readFileSync('functions/aws/template.yaml', 'utf8')
    .replaceAll('../../dist/', `${resolve('dist')}/`)
    .replaceAll('statemachine.asl.json', join(here, 'statemachine.asl.json'))
    // ministack gives a secret's name where AWS gives its ARN.
    .replace(
      'Resource: !Ref WebhookSecret}',
      `Resource: !Sub 'arn:aws:secretsmanager:*:*:secret:\${WebhookSecret}-??????'}`,
    )
    .replaceAll(
      /^ {2}(\w+)Function:\n {4}Type: AWS::Serverless::Function\n(?: {4}Condition: .*\n)? {4}Properties:\n/gm,
      (head, name) => `${head}      Environment: {Variables: {AWS_SDK_UA_APP_ID: ${name}}}\n`,
    );
  writeFileSync(path, text);
  return path;
}

/** Passes everything on to a port of this machine. @returns its URL */
async function recorder(port: number, actions: Map<string, Set<string>>): Promise<string> {
  const server = createServer((asked, answer) => {
    const name = / app\/(\w+)/.exec(asked.headers['user-agent'] ?? '')?.[1];
    const action = actionOf(asked);
    if (name !== undefined && action !== undefined) {
      const known = actions.get(name) ?? new Set();
      actions.set(name, known.add(action));
    }
    const { method, url, headers } = asked;
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (from) => {
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  const host = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return `http://${host}`;
}

const SERVICES: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  secretsmanager: 'secretsmanager',
  AWSEvents: 'events',
  TrentService: 'kms',
  AmazonEC2ContainerRegistry_V20150921: 'ecr',
};

/** What a request asks to be allowed; undefined for one that is not signed. */
function actionOf({ method, url = '', headers }: IncomingMessage): string | undefined {
  const [service = '', name] = String(headers['x-amz-target'] ?? '').split('.');
  if (name !== undefined) return `${SERVICES[service] ?? service}:${name}`;
  if (!/\/s3\/aws4_request/.test(headers.authorization ?? '')) return undefined;
  if (url.includes('list-type=2')) return 's3:ListBucket';
  return method === 'PUT' ? 's3:PutObject' : 's3:GetObject';
}

/** The name of the API's host stands only in the header: nothing resolves it. */
function send(port: number, headers: Readonly<Record<string, string>>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path: '/webhook', method: 'POST', headers },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function outputsIn(answer: unknown): Record<string, string> {
  const { Stacks } = answer as { Stacks: { Outputs: { OutputKey: string; OutputValue: string }[] }[] };
  return Object.fromEntries((Stacks[0]?.Outputs ?? []).map((one) => [one.OutputKey, one.OutputValue]));
}

/** The payload of a push, with all that is read of it. */
export function pushPayload(commit: string, branch: string, pushedAt: number = Date.now()): string {
  return JSON.stringify({
    ref: `refs/heads/${branch}`,
    before: '0'.repeat(40),
    after: commit,
    deleted: false,
    repository: { id: REPOSITORY_ID, full_name: 'sea/catalogs', pushed_at: Math.floor(pushedAt / 1000) },
  });
}

export interface SeenStatus {
  readonly commit: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
  /** Where more of it is said. */
  readonly link: string | undefined;
  /** When it came, in ms of `performance.now()`. */
  readonly at: number;
}

export interface SeenDeployment {
  readonly commit: string;
  readonly environment: string;
  /** The digest. */
  readonly description: string;
}

export interface FakeGitHub {
  readonly url: string;
  /** In the order in which they came. */
  readonly statuses: readonly SeenStatus[];
  readonly deployments: readonly SeenDeployment[];
  readonly asked: readonly Asked[];
}

/** GitHub's API as far as statuses and deployments of an App need it. */
export async function fakeGitHub(): Promise<FakeGitHub> {
  const statuses: SeenStatus[] = [];
  const deployments: SeenDeployment[] = [];
  const { url, asked } = await startHost((request, response) => {
    const commit = /^\/repos\/sea\/catalogs\/statuses\/([0-9a-f]{40})$/.exec(request.url)?.[1];
    const json = { 'content-type': 'application/json' };
    if (/^\/app\/installations\/2\/access_tokens$/.test(request.url)) {
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const token = { token: 'ghs_fake', expires_at: expires, permissions: {}, repository_selection: 'all' };
      return reply(response, 201, JSON.stringify(token), json);
    }
    if (request.headers.authorization !== 'token ghs_fake') return reply(response, 404, '{}', json);
    const [path, status] = /^\/repos\/sea\/catalogs\/deployments(\/1\/statuses)?/.exec(request.url) ?? [];
    if (path !== undefined) {
      if (request.method === 'GET') return reply(response, 200, '[]', json);
      if (status === undefined) {
        const { ref, environment, description } = JSON.parse(request.body.toString());
        deployments.push({ commit: ref, environment, description });
      }
      return reply(response, 201, '{"id": 1}', json);
    }
    // No pull request is open: a push concerns none.
    if (/^\/repos\/sea\/catalogs\/pulls(?:\?|$)/.test(request.url)) return reply(response, 200, '[]', json);
    const listed = /^\/repos\/sea\/catalogs\/commits\/([0-9a-f]{40})\/statuses/.exec(request.url)?.[1];
    if (listed !== undefined) {
      const newest = statuses.filter((one) => one.commit === listed).toReversed();
      const all = newest.map(({ link, ...status }) => ({ ...status, target_url: link ?? null }));
      return reply(response, 200, JSON.stringify(all), json);
    }
    if (commit === undefined) return reply(response, 404, '{}', json);
    const { context, state, description, target_url: link } = JSON.parse(request.body.toString());
    statuses.push({ commit, context, state, description, link, at: performance.now() });
    reply(response, 201, '{}', json);
  });
  return { url, statuses, deployments, asked };
}
