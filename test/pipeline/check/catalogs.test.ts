import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents } from '../../fakes/gate.ts';
import { type Files, makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly catalogs: readonly string[];
  readonly location: { readonly file: string };
}

/** Findings of a rule, by the command line, of a pull request. */
async function found(rule: string, base: Files, head: Files): Promise<Found[]> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const [before = '', after = ''] = repository.chain(base, head);
  const words = ['check', '--base', before, '--head', after, '--format', 'json'];
  const { findings } = JSON.parse((await portolan(repository.directory, ...words)).out);
  return findings.filter((finding: Found) => finding.rule === rule);
}

const PROPERTIES = [{ type: 'olm.package', value: { packageName: 'etcd', version: '1.0.0' } }];

/** One package with one bundle in one channel. */
function etcd({ channel = 'stable', property }: { channel?: string; property?: object } = {}): string {
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: channel },
    { schema: 'olm.channel', package: 'etcd', name: channel, entries: [{ name: 'etcd.v1.0.0' }] },
    bundle('etcd', '1.0.0', property ? { properties: [...PROPERTIES, property] } : {}),
  );
}

/** The same content in catalogs. */
function inEach(names: readonly string[], content: string): Files {
  return Object.fromEntries(names.map((name) => [`catalogs/${name}/etcd/catalog.yaml`, content]));
}

const NAMES = ['v4.16', 'v4.17', 'v4.18'];

test('catalogs that change alike are checked each for its own platform', async () => {
  const limited = etcd({ property: { type: 'olm.maxOpenShiftVersion', value: '4.17' } });
  const findings = await found('graph/max-openshift-version', inEach(NAMES, etcd()), inEach(NAMES, limited));
  expect(findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('but the catalog "v4.18" is for 4.18'),
      catalogs: ['v4.18'],
      location: { file: 'catalogs/v4.18/etcd/catalog.yaml' },
    },
  ]);
});

test('a limit that no catalog exceeds is fine', async () => {
  const limited = etcd({ property: { type: 'olm.maxOpenShiftVersion', value: '4.18' } });
  expect(await found('graph/max-openshift-version', inEach(NAMES, etcd()), inEach(NAMES, limited))).toEqual(
    [],
  );
});

test('a bundle is told as the platform of each catalog reads it', async () => {
  const object = { type: 'olm.bundle.object', value: { data: 'e30=' } };
  const findings = await found(
    'bundle/metadata-format',
    inEach(NAMES, etcd()),
    inEach(NAMES, etcd({ property: object })),
  );
  const told = findings.map(({ catalogs, message, location: { file } }) => [
    catalogs,
    /catalogs of \S+/.exec(message)?.[0],
    file,
  ]);
  expect(told).toEqual([
    [['v4.17'], 'catalogs of 4.17', 'catalogs/v4.17/etcd/catalog.yaml'],
    [['v4.18'], 'catalogs of 4.18', 'catalogs/v4.18/etcd/catalog.yaml'],
  ]);
});

test('what is found alike in several catalogs is one finding', async () => {
  const lost = documents({ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' });
  const findings = await found('package/no-channel', inEach(NAMES, etcd()), inEach(NAMES, lost));
  expect(findings.map(({ catalogs }) => catalogs)).toEqual([NAMES]);
});

const LOST = 'graph/strands-on-platform-upgrade';

test('without a policy catalogs follow each other as their names say', async () => {
  const names = ['v4.9', 'v4.10', 'v4.11'];
  const next = documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    {
      schema: 'olm.channel',
      package: 'etcd',
      name: 'stable',
      entries: [{ name: 'etcd.v1.0.0' }, { name: 'etcd.v1.1.0', replaces: 'etcd.v1.0.0' }],
    },
    bundle('etcd', '1.0.0'),
    bundle('etcd', '1.1.0'),
  );
  const findings = await found(LOST, inEach(names, etcd()), inEach(['v4.9', 'v4.10'], next));
  expect(findings).toMatchObject([
    {
      severity: 'error',
      message: expect.stringContaining('when clusters go from v4.10 to v4.11, 1.1.0'),
      catalogs: ['v4.10'],
    },
  ]);
  expect(await found(LOST, inEach(names, etcd()), inEach(names, next))).toEqual([]);
});

test('a channel that is new where it leads nowhere is a warning: nobody has it yet', async () => {
  const findings = await found(
    LOST,
    inEach(['v4.19', 'v4.20'], etcd()),
    inEach(['v4.19'], etcd({ channel: 'new' })),
  );
  expect(findings.map(({ severity, catalogs }) => [severity, catalogs])).toEqual([['warning', ['v4.19']]]);
});

test('a channel that is new in all catalogs strands nobody on the way between them', async () => {
  const names = ['v4.9', 'v4.10', 'v4.11'];
  expect(await found(LOST, inEach(names, etcd()), inEach(names, etcd({ channel: 'new' })))).toEqual([]);
});

test('a next catalog that the same pull request changes is compared with what it was', async () => {
  const names = ['v4.19', 'v4.20'];
  const head = { ...inEach(['v4.19'], `${etcd()}\n`), ...inEach(['v4.20'], etcd({ channel: 'new' })) };
  const findings = await found(LOST, inEach(names, etcd()), head);
  expect(findings.map(({ catalogs, severity }) => [catalogs, severity])).toEqual([[['v4.19'], 'error']]);
});

test('catalogs whose names are no versions follow nothing', async () => {
  const base = inEach(['dev', 'prod'], etcd({ channel: 'old' }));
  expect(await found(LOST, base, inEach(['dev'], etcd({ channel: 'new' })))).toEqual([]);
});
