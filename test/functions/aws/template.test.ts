/** What AWS makes of the template where what stands in for it makes nothing of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { waitAfter } from '../../../functions/aws/queue.ts';
import { ecrHost } from '../../../functions/ecr/credentials.ts';

interface Resource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** The template as data; what functions of CloudFormation are asked stands as their arguments. */
function template() {
  const text = readFileSync('functions/aws/template.yaml', 'utf8').replace(
    /!(?:Ref|Sub|GetAtt|If|Not|Equals|Join)\b/g,
    '',
  );
  return load(text) as {
    readonly Globals: {
      readonly Function: {
        readonly Environment: { readonly Variables: object };
        readonly PermissionsBoundary: unknown;
        readonly VpcConfig: unknown;
      };
    };
    readonly Resources: Readonly<Record<string, Resource>>;
    readonly Parameters: Readonly<Record<string, { readonly AllowedValues?: readonly number[] }>>;
    readonly Outputs: Readonly<Record<string, { readonly Value: string }>>;
  };
}

const { Globals, Parameters, Resources, Outputs } = template();
const docs = readFileSync('docs/functions.md', 'utf8');

function ofType(type: string): [string, Resource][] {
  return Object.entries(Resources).filter(([, { Type }]) => Type === type);
}

test('a message is not put aside before GitHub has been down for half an hour', () => {
  const redrive = Resources['Queue']?.Properties['RedrivePolicy'] as { maxReceiveCount: number } | undefined;
  const waits = Array.from({ length: (redrive?.maxReceiveCount ?? 1) - 1 }, (_, i) => waitAfter(i + 1));
  expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(30 * 60);
});

test('git of a layer is told where its programs are, which the layer has there', () => {
  expect(Globals.Function.Environment.Variables).toMatchObject({
    GIT_EXEC_PATH: ['HasGitLayer', '/opt/libexec/git-core', 'AWS::NoValue'],
  });
  expect(docs).toContain('/l/libexec/git-core');
});

test('a schedule has a name of its own in every stack: SAM gives it the same one in each', () => {
  const schedules = Object.values(Resources).flatMap(({ Properties }) =>
    Object.values((Properties['Events'] ?? {}) as Record<string, Resource>).filter(
      ({ Type }) => Type === 'ScheduleV2',
    ),
  );
  expect(schedules.map(({ Properties }) => Properties['OmitName'])).toEqual([true, true]);
});

test('images are read wherever they stand, and written where the parameter says', () => {
  const reads = ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'];
  for (const name of ['WorkFunction', 'PublishFunction']) {
    const policies = Resources[name]?.Properties['Policies'] as { Statement: (Statement | unknown[])[] }[];
    const statements = policies.flatMap(({ Statement }) => Statement).filter((one) => !Array.isArray(one));
    const onImages = (statements as Statement[]).filter(
      ({ Action }) => Array.isArray(Action) && Action.includes('ecr:BatchGetImage'),
    );
    expect(onImages.map(({ Action, Resource }) => [Resource === '*', Action])).toEqual([
      [true, reads],
      [false, expect.arrayContaining([...reads, 'ecr:PutImage'])],
    ]);
  }
});

test("the App's secret is readable, and none whose name begins with its name", () => {
  const text = readFileSync('functions/aws/template.yaml', 'utf8');
  const ends = [...text.matchAll(/secret:\$\{AppSecret\}(\S*)/g)].map(([, end]) => end);
  expect(ends).toEqual(Array(5).fill('-??????'));
});

test('each metric that functions count is told of, and each alarm is about one that there is', () => {
  const counted = new Set<string>();
  const services = new Set<string>();
  const files = ['functions', 'functions/aws'].flatMap((folder) =>
    readdirSync(folder).map((name) => `${folder}/${name}`),
  );
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(file, 'utf8');
    for (const [, words = ''] of text.matchAll(/telemetry\.(?:count|time)\(([^)]*)\)/g))
      for (const [, name = ''] of words.matchAll(/'(\w+)'/g)) counted.add(name);
    for (const [, name = ''] of text.matchAll(/telemetryOf\('(\w+)'\)/g)) services.add(name);
  }
  expect(counted).toContain('DriftFailed');
  for (const name of counted) expect(docs, name).toContain(`\`${name}\``);
  const failures = [...counted].filter((name) => /^(?:Reconcile|Drift)Failed$/.test(name));
  const alarms = ofType('AWS::CloudWatch::Alarm');
  const ours = alarms.filter(([, { Properties }]) => Properties['Namespace'] === 'Portolan');
  expect(ours.map(([, { Properties }]) => Properties['MetricName']).sort()).toEqual(failures.sort());
  for (const [, { Properties }] of ours) {
    const [service, stack] = Properties['Dimensions'] as { Value: string }[];
    expect(services).toContain(service?.Value);
    expect(stack).toEqual({ Name: 'stack', Value: 'AWS::StackName' });
  }
  for (const [name] of alarms) expect(docs, name).toContain(`\`${name}\``);
});

test('what the state machine catches is alarmed all the same', () => {
  const machine = JSON.parse(readFileSync('functions/aws/statemachine.asl.json', 'utf8'));
  const { Publish } = machine.States['Publish each catalog'].ItemProcessor.States;
  const tries = 1 + Publish.Retry[0].MaxAttempts;
  expect(Resources['NotHealed']?.Properties).toMatchObject({
    Namespace: 'AWS/Lambda',
    MetricName: 'Errors',
    Dimensions: [{ Name: 'FunctionName', Value: 'PublishFunction' }],
    Threshold: tries - 1,
    ComparisonOperator: 'GreaterThanThreshold',
  });
});

test('what is remembered outlives the stack; a first deploy that fails leaves nothing behind', () => {
  const kept = [...ofType('AWS::S3::Bucket'), ...ofType('AWS::DynamoDB::Table')].map(([, one]) => one);
  expect(kept).toMatchObject(
    Array(2).fill({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' }),
  );
  // Of CloudWatch's numbers of days, which else are refused when the rest is made already.
  expect(Parameters['KeepLogs']?.AllowedValues).toEqual(expect.arrayContaining([1, 30, 90, 365, 3653]));
});

test('nothing names one partition of AWS', () => {
  // Names of services as principals are the same in each of them; consoles have a name in each.
  const known = [/^\s*Principal: \w+\.amazonaws\.com$/, /console\.(?:aws\.)?amazon(?:aws)?/];
  const files = readdirSync('functions/aws').map((name) => `functions/aws/${name}`);
  const found = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /arn:aws|amazonaws|\.aws\b(?!\.amazon)/.test(line))
      .filter((line) => !/^\s*(?:\/\/|\*|#)/.test(line) && !known.some((one) => one.test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
});

test.each([
  ['us-east-1', 'amazonaws.com'],
  ['cn-north-1', 'amazonaws.com.cn'],
  ['us-gov-west-1', 'amazonaws.com'],
  ['eusc-de-east-1', 'amazonaws.eu'],
])('ECR of %s is known as ECR', (region, suffix) => {
  const host = `123456789012.dkr.ecr.${region}.${suffix}`;
  expect(ecrHost(host)).toEqual({ account: '123456789012', region });
  expect(ecrHost(`${host}.example.com`)).toBeUndefined();
});

test('what is asked of whoever looks after it stands in the outputs', () => {
  expect(docs).toContain('--source-arn ASIDE-ARN');
  expect(Outputs['AsideArn']?.Value).toBe('Aside.Arn');
});

test('for each alarm there are steps, and every function has alarms for crashes and throttles', () => {
  const steps = docs.slice(
    docs.indexOf('### What to do when an alarm fires'),
    docs.indexOf('### Messages put aside'),
  );
  for (const [name] of ofType('AWS::CloudWatch::Alarm'))
    expect(steps).toMatch(new RegExp(`^\\| (?:\`\\w+\`, )*\`${name}\`(?:, \`\\w+\`)* \\| 1\\. `, 'm'));
  const functions = ofType('AWS::Serverless::Function').map(([name]) => name);
  const alarmed = (metric: string): unknown[] =>
    ofType('AWS::CloudWatch::Alarm')
      .filter(([, { Properties: of }]) => of['Namespace'] === 'AWS/Lambda' && of['MetricName'] === metric)
      .map(([, { Properties }]) => (Properties['Dimensions'] as { Value: string }[])[0]?.Value);
  // Only stacks with an App have it, and it has an alarm of its own.
  const all = functions.filter((name) => name !== 'DriftFunction').sort();
  expect(alarmed('Errors').sort()).toEqual(all);
  expect(alarmed('Throttles').sort()).toEqual(all);
});

test('what a schedule could not start is put aside, and somebody hears of it', () => {
  const schedules = Object.values(Resources).flatMap(({ Properties }) =>
    Object.values((Properties['Events'] ?? {}) as Record<string, Resource>).filter(
      ({ Type }) => Type === 'ScheduleV2',
    ),
  );
  const queues = schedules.map(({ Properties }) => Properties['DeadLetterConfig']);
  expect(queues).toEqual([{ Arn: 'Unscheduled.Arn' }, { Arn: 'Unscheduled.Arn' }]);
  expect(Resources['NotScheduled']?.Properties['Dimensions']).toMatchObject([
    { Value: 'Unscheduled.QueueName' },
  ]);
  expect(Resources['SchedulerSilent']?.Properties['TreatMissingData']).toBe('breaching');
});

test('a boundary, a VPC and an own key reach all that they are for', () => {
  const chosen = (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, 2) : value);
  const boundary = ['HasPermissionsBoundary', 'PermissionsBoundary'];
  expect(chosen(Globals.Function.PermissionsBoundary)).toEqual(boundary);
  expect(chosen(Globals.Function.VpcConfig)).toEqual([
    'HasVpc',
    { SubnetIds: 'Subnets', SecurityGroupIds: 'SecurityGroups' },
  ]);
  const text = readFileSync('functions/aws/template.yaml', 'utf8');
  // Of functions in one place, and of the state machine and each schedule, which have roles of their own.
  const schedules = text.match(/Type: ScheduleV2/g) ?? [];
  const machines = ofType('AWS::Serverless::StateMachine');
  expect(text.match(/PermissionsBoundary: !If/g)).toHaveLength(1 + schedules.length + machines.length);
  expect(ofType('AWS::IAM::Role')).toEqual([]);
  const key = ['HasDataKey', 'DataKey'];
  for (const [name, { Properties }] of ofType('AWS::SQS::Queue')) {
    expect(chosen(Properties['KmsMasterKeyId']), name).toEqual(key);
    // SQS refuses both at once.
    expect(Properties['SqsManagedSseEnabled'], name).toEqual(['HasDataKey', 'AWS::NoValue', true]);
  }
  expect(chosen(Resources['WebhookSecret']?.Properties['KmsKeyId'])).toEqual(key);
  expect(JSON.stringify(Resources['Records']?.Properties['BucketEncryption'])).toContain('"DataKey"');
  expect(JSON.stringify(Resources['Fence']?.Properties['SSESpecification'])).toContain('"DataKey"');
});

test('the bucket of the code is asked for with its owner', () => {
  const script = readFileSync('scripts/deploy-functions.mjs', 'utf8');
  expect(script.match(/'head-bucket'.*/g)).toEqual([
    expect.stringContaining("'--expected-bucket-owner', account"),
  ]);
});
