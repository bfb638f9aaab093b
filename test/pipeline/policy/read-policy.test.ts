import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type PolicyRead, readPolicy } from '../../../pipeline/policy/read-policy.ts';

const HEAD = 'apiVersion: portolan/v1alpha1\nkind: Portolan\n';

function read(text: string): PolicyRead {
  return readPolicy(new TextEncoder().encode(HEAD + text));
}

/** Findings as `line:column rule message → hint`. */
function said(text: string): string[] {
  return read(text).findings.map(
    ({ location: { line, column }, rule, message, hint = '' }) =>
      `${line}:${column} ${rule} ${message}${hint === '' ? '' : ` → ${hint}`}`,
  );
}

describe('without a policy', () => {
  test('the defaults hold, and that is said', () => {
    const { policy, defaults, findings } = readPolicy(undefined);
    expect({ defaults, findings }).toEqual({ defaults: true, findings: [] });
    expect(policy?.layout.match('catalogs/v4.20/etcd/catalog.yaml')).toMatchObject({
      kind: 'catalog',
      catalog: 'v4.20',
      package: 'etcd',
    });
    expect(policy).toMatchObject({
      owners: { admins: [], allowTeams: true },
      approval: { pin: 'content', ownerSelfApproval: true, pusherMustBeOwner: true, multiPackage: 'each' },
      limits: {
        fileBytes: 33_554_432,
        files: 3000,
        documents: 20_000,
        depth: 100,
        aliases: 50,
        contextBytes: 268_435_456,
        entries: 10_000,
        nodes: 1_000_000,
      },
      merge: { mode: 'off' },
      graph: { olm: ['v0', 'v1'], published: 'git' },
    });
    expect(policy?.approval.required.get('delete-package')).toEqual({ owners: 1, admins: 1 });
    expect(policy?.approval.required.get('gate')).toEqual({ owners: 0, admins: 2 });
  });

  test('an empty file of settings is no policy', () => {
    expect(readPolicy(new Uint8Array()).policy).toBeUndefined();
  });
});

test('every key is read', () => {
  const { policy, findings } = read(`
branches: [main, 'release-*']
layout:
  bundle: 'ops/{package}/{version}/**'
  catalog: ['cats/{catalog}/{package}/**', 'all/{catalog}.yaml']
owners:
  admins: ['@My-Org/Catalog-Admins', 'alice#12345']
  blocked: [mallory]
  sources: [{path: 'ops/{package}/ci.yaml', format: ci.yaml}, {path: '{dir}/OWNERS', format: prow}]
  packages: {etcd: [bob]}
  allowTeams: false
reservedNames: ['openshift-*']
automation:
  - {id: 88447997, login: 'release-bot[bot]', packages: ['*'], may: [add-entry, promote], paths: [catalog], maxPackages: 3}
approval:
  by: review
  pin: head
  ownerSelfApproval: false
  pusherMustBeOwner: false
  required: {ownership: owners+admins, gate: 'admins:3', multi-package: admins}
commits: {signOff: true, verified: true}
checks: {required: [{name: install, app: 15368, workflow: .github/workflows/install.yml}]}
rules:
  graph/stuck-v1: warning
  'drift/*': off
  graph/entry-removed: {severity: off, allowChannels: [nightly]}
  image/digest: {allowChannels: [dev]}
waivers: [{rule: graph/strands-installed-v0, package: etcd, catalog: 'v4.1*', until: 2027-03-01, reason: known}]
limits: {fileBytes: 1, files: 2, docs: 3, depth: 4, aliases: 0, contextBytes: 5, entries: 6}
merge: {mode: off, method: rebase, via: direct}
graph: {olm: [v1], catalogOrder: [v4.12, v4.13], companions: [quay.io/a/b], published: {ledger: published.json}}
registries: {allow: ['*.example.com', 'quay.io/my-org'], credentials: ['r.example.com:5000'], internal: [10.0.0.0/8]}
publish:
  role: arn:aws:iam::1:role/x
  catalogs: {'v*': {image: 'quay.io/o/i:{catalog}', base: quay.io/x/opm, platforms: [linux/arm64], mirrorTo: 'm:5000/olm'}}
`);
  expect(findings).toEqual([]);
  expect(policy).toMatchObject({
    branches: ['main', 'release-*'],
    owners: {
      admins: [
        { kind: 'team', team: 'my-org/catalog-admins' },
        { kind: 'account', login: 'alice', id: 12345 },
      ],
      blocked: [{ kind: 'account', login: 'mallory', id: undefined }],
      allowTeams: false,
    },
    reservedNames: ['openshift-*'],
    automation: [{ id: 88447997, login: 'release-bot[bot]', paths: ['catalog'], maxPackages: 3 }],
    approval: { pin: 'head', ownerSelfApproval: false, pusherMustBeOwner: false, multiPackage: 'admins' },
    commits: { signOff: true, verified: true },
    requiredChecks: [{ name: 'install', app: 15368, workflow: '.github/workflows/install.yml' }],
    limits: {
      fileBytes: 1,
      files: 2,
      documents: 3,
      depth: 4,
      aliases: 0,
      contextBytes: 5,
      entries: 6,
      nodes: 1_000_000,
    },
    merge: { mode: 'off', method: 'rebase', via: 'direct' },
    graph: { olm: ['v1'], catalogOrder: ['v4.12', 'v4.13'], published: { ledger: 'published.json' } },
    registries: {
      allow: ['*.example.com', 'quay.io/my-org'],
      credentials: ['r.example.com:5000'],
      internal: ['10.0.0.0/8'],
    },
    publish: { role: 'arn:aws:iam::1:role/x', catalogs: [{ pattern: 'v*', platforms: ['linux/arm64'] }] },
  });
  expect(policy?.owners.packages.get('etcd')).toEqual([{ kind: 'account', login: 'bob', id: undefined }]);
  expect(policy?.approval.required.get('ownership')).toEqual({ owners: 1, admins: 1 });
  expect(policy?.approval.required.get('gate')).toEqual({ owners: 0, admins: 3 });
  expect(policy?.rules.get('drift/*')).toEqual({ severity: 'off', enforce: 'on', allowChannels: [] });
  expect(policy?.rules.get('graph/entry-removed')).toEqual({
    severity: 'off',
    enforce: 'on',
    allowChannels: ['nightly'],
  });
  expect(policy?.rules.get('image/digest')).toEqual({
    severity: undefined,
    enforce: 'on',
    allowChannels: ['dev'],
  });
  expect(policy?.layout.match('ops/etcd/1.0.0/x')?.kind).toBe('bundle');
  expect(policy?.layout.match('all/v4.20.yaml')).toMatchObject({ catalog: 'v4.20', package: undefined });
  // A kind that the policy does not mention keeps its default.
  expect(policy?.layout.match('operators/etcd/ci.yaml')?.kind).toBe('packageConfig');
});

test('a waiver knows where it is written', () => {
  const waiver = '{rule: graph/strands-installed-v0, package: etcd, until: 2027-03-01, reason: known}';
  const { policy } = readPolicy(
    Buffer.from(`apiVersion: portolan/v1alpha1\nkind: Portolan\nwaivers:\n- ${waiver}\n-   ${waiver}\n`),
  );
  expect(policy?.waivers.map(({ location }) => location)).toEqual([
    { file: '.github/portolan.yaml', line: 4, column: 3 },
    { file: '.github/portolan.yaml', line: 5, column: 5 },
  ]);
});

describe('what is wrong is said at its place', () => {
  test('misspelt keys, at any depth, all at once', () => {
    expect(
      said(
        'ownres: {}\napproval:\n  pinn: content\nautomation:\n- {id: 1, login: a, packages: [], may: [], upTo: 2}\n',
      ),
    ).toEqual([
      '3:1 policy/unknown-key unknown key "ownres" → did you mean owners?',
      '5:3 policy/unknown-key unknown key "pinn" in approval → did you mean pin?',
      '7:44 policy/unknown-key unknown key "upTo" in automation[0] → valid keys: id, login, packages, may, paths, maxPackages',
    ]);
  });

  test('values of the wrong kind, with what was found and what to write', () => {
    expect(
      said('limits: {files: many}\nmerge:\n  mode: atuo\nowners: {admins: [a b], packages: {x: [12]}}\n'),
    ).toEqual([
      '3:17 policy/value limits.files must be a whole number, found "many"',
      '5:9 policy/value merge.mode must be one of off, auto, found "atuo" → did you mean auto?',
      '6:19 policy/value owners.admins[0] must be login, login#number, or @organization/team, found "a b"',
      "6:40 policy/value owners.packages.x[0] must be text, found 12 → quote it: '12'",
    ]);
    const demand = 'name: a, from: quay.io, keys: []';
    expect(said(`registries: {attestations: [{${demand}, predicateType: x, result: passed}]}\n`)).toEqual([
      '3:45 policy/value registries.attestations[0].from must be a list, found "quay.io"',
      '3:60 policy/value registries.attestations[0].keys must be a non-empty value, found a list',
      '3:79 policy/value registries.attestations[0].predicateType must be text such as https://slsa.dev/provenance/v1 or urn:portolan:upgrade-safety:v1, found "x"',
      '3:90 policy/value registries.attestations[0].result must be a mapping, found "passed"',
      '3:90 policy/value registries.attestations[0].result must be one of none, found "passed"',
    ]);
    expect(said('waivers: [{rule: fbc/yaml, package: x, until: 2027-02-30, reason: r}]\n')).toEqual([
      '3:47 policy/value waivers[0].until: 2027-02-30 is not a valid date → until: 2027-03-01',
    ]);
  });

  test('a waiver without an end, a missing kind, a key twice, a second document, broken YAML', () => {
    expect(said('waivers: [{rule: fbc/yaml, package: x, reason: r}]\n')).toEqual([
      '3:11 policy/value waivers[0]: until is missing → until: …',
    ]);
    expect(readPolicy(new TextEncoder().encode('apiVersion: portolan/v1alpha1\n')).findings).toMatchObject([
      { rule: 'policy/value', message: 'the policy: kind is missing', location: { line: 1 } },
    ]);
    expect(said('limits: {}\nlimits: {}\n')).toEqual([
      '4:1 settings/repeated-key duplicate key "limits" in a mapping → keep one of them',
    ]);
    expect(said('limits: {}\n---\nlimits: {}\n')).toEqual([
      '5:1 settings/document the policy must be one document → keep one document',
    ]);
    expect(readPolicy(new TextEncoder().encode(`# c\n---\n${HEAD}`)).findings).toEqual([]);
    expect(said('limits: [\n').join()).toContain('settings/yaml not YAML');
  });

  test('patterns that are none', () => {
    expect(
      said(
        "layout: {catalog: 'a/**/{package}', template: ['x/{pkg}/**'], bundle: '/x/{package}', packageConfig: 'x/ci.yaml'}\n",
      ),
    ).toEqual([
      "3:19 policy/value layout.catalog: ** is only allowed at the end → catalog: 'catalogs/{catalog}/{package}/**'",
      "3:48 policy/value layout.template[0]: {pkg} is not {catalog}, {package}, {version} or a list such as {a,b} → template: 'operators/{package}/catalog-templates/**'",
      "3:71 policy/value layout.bundle: a pattern is a relative path without empty segments → bundle: 'operators/{package}/{version}/**'",
      "3:102 policy/value layout.packageConfig: the pattern must contain {package} → packageConfig: 'operators/{package}/ci.yaml'",
    ]);
  });

  test('rules that do not exist, in rules and in waivers', () => {
    const text =
      'rules: {graph/stuk-v1: error, "graph/*": off, Nonsense: error}\nwaivers: [{rule: fbc/yml, package: x, until: 2027-01-01, reason: r}]\n';
    expect(said(text)).toEqual([
      '3:47 policy/unknown-key rules: "Nonsense" is not a rule id → use a rule such as graph/stuck-v1, or a group such as graph/*',
    ]);
    expect(said(text.replace(', Nonsense: error', ''))).toEqual([
      '3:9 policy/unknown-key unknown rule "graph/stuk-v1" → did you mean graph/stuck-v1?',
      '4:18 policy/unknown-key unknown rule "fbc/yml" → did you mean fbc/yaml?',
    ]);
  });

  test('what counts as published', () => {
    expect(
      said(
        'graph:\n  released:\n    a: brnch\n    b: {imge: x}\n    c: {}\n    d: {image: 5}\n    e: [branch]\nregistries: {}\n',
      ),
    ).toEqual([
      '5:8 policy/value graph.released.a must be one of branch, nothing, found "brnch" → did you mean branch?',
      '6:9 policy/unknown-key unknown key "imge" in graph.released.b → did you mean image?',
      '7:8 policy/value graph.released.c must be a non-empty value, found a mapping',
      "8:16 policy/value graph.released.d.image must be text, found 5 → quote it: '5'",
      '9:8 policy/value graph.released.e must be one of branch, nothing, found a list',
    ]);
    const images = (image: string, allow: string): string[] =>
      said(`graph: {released: {'v*': {image: '${image}'}}}\nregistries: {allow: [${allow}]}\n`);
    expect(images('quay.io/org/index:v{minor}', 'quay.io/org')).toEqual([]);
    expect(images('quay.io/org/{catalog}:latest', 'quay.io/org/v4.12')).toEqual([]);
    expect(images('quay.io/org/index:{catlog}', "'*'")).toEqual([
      "3:34 policy/value graph.released.v*.image: unknown placeholder {catlog}, expected {catalog} or {minor} → image: 'registry.redhat.io/redhat/redhat-operator-index:v{minor}'",
    ]);
    expect(images('quay.io/Org/index', "'*'")).toEqual([
      "3:34 policy/value graph.released.v*.image: it is not a valid reference → image: 'registry.redhat.io/redhat/redhat-operator-index:v{minor}'",
    ]);
    expect(images('quay.io/org/index:v{minor}', 'quay.io/other')).toEqual([
      '3:34 policy/value graph.released.v*.image: registries.allow does not allow quay.io/org/index → registries: {allow: [quay.io/org/index]}',
    ]);
  });

  test('a policy with findings decides nothing', () => {
    expect(read('ownres: {}\n').policy).toBeUndefined();
    expect(read('limits: {}\nlimits: {}\n').policy).toBeUndefined();
  });

  test('an owner whose number no account can have is refused, not left out', () => {
    expect(said("owners: {blocked: ['eve#1234567890123456']}\n")).toEqual([]);
    expect(said("owners: {blocked: ['eve#12345678901234567']}\n")).toHaveLength(1);
  });

  test('keys of the language itself are keys like others', () => {
    expect(said('__proto__: {}\nconstructor: {}\n')).toHaveLength(2);
    const { policy, findings } = read('owners: {packages: {__proto__: [bob], constructor: [bob]}}\n');
    expect(findings).toEqual([]);
    expect([...(policy?.owners.packages.keys() ?? [])]).toEqual(['__proto__', 'constructor']);
    expect(policy?.owners.packages.get('toString')).toBeUndefined();
  });
});

describe('rings', () => {
  const ringed = (rings: string, image = 'quay.io/sea/index:{catalog}', beside = ''): string =>
    `publish: {catalogs: {'v*': {image: '${image}', rings: ${rings}${beside}}}}\n`;
  const CANARY = "{tag: '{catalog}-canary'}";

  test('every key is read, and what is left out has a default', () => {
    const second = '{tag: early, after: 90m, unless: [hold], checks: [smoke], approvals: 2}';
    const { policy } = read(ringed(`[${CANARY}, ${second}, {tag: '{catalog}', after: 7d}]`));
    expect(policy?.publish.catalogs[0]?.rings).toEqual([
      { tag: '{catalog}-canary', after: 0, unless: ['hold', 'stranding'], checks: [], approvals: 1 },
      { tag: 'early', after: 5_400_000, unless: ['hold'], checks: ['smoke'], approvals: 2 },
      { tag: '{catalog}', after: 604_800_000, unless: ['hold', 'stranding'], checks: [], approvals: 1 },
    ]);
  });

  const LAST = "{tag: '{catalog}', after: 72h}";
  test.each([
    [
      ringed(`[${CANARY}, ${LAST}]`, 'quay.io/sea/index:latest'),
      'expected the tag of the last ring in a registry',
    ],
    [
      ringed(`[${CANARY}, ${LAST}]`, 'oci:images:{catalog}'),
      'expected the tag of the last ring in a registry',
    ],
    [ringed(`[${LAST}, ${LAST}]`), 'found {catalog} twice, expected another tag for each ring'],
    [ringed(`[{tag: a, after: 1h}, ${LAST}]`), 'the first ring has no conditions: a merge moves its tag'],
    [ringed(`[${CANARY}, {tag: '{catalog}'}]`), 'after is missing'],
    [ringed(`[${CANARY}, {tag: '{catalog}', after: soon}]`), 'after must be minutes, hours or days'],
    [ringed(`[${LAST}]`), 'rings must be a non-empty value'],
    [
      ringed(`[${CANARY}, ${LAST}]`, undefined, ", slim: 'quay.io/sea/slim:{catalog}'"),
      'found slim beside rings',
    ],
    [
      ringed(`[${CANARY}, ${LAST}]`, undefined, ', immutableTags: false'),
      'found false beside rings: a registry may delete an image that soaks without a tag',
    ],
  ])('%s', (text, expected) => {
    expect(said(text).join('\n')).toContain(expected);
    expect(read(text).policy).toBeUndefined();
  });
});

test('editors get the same schema from the documentation', () => {
  expect(readFileSync('docs/policy.schema.json', 'utf8')).toBe(
    readFileSync('pipeline/policy.schema.json', 'utf8'),
  );
});

describe('enforce', () => {
  const enforceOf = (text: string) => {
    const { policy } = readPolicy(
      new TextEncoder().encode(`apiVersion: portolan/v1alpha1\nkind: Portolan\n${text}\n`),
    );
    return [policy?.enforce, policy?.rules.get('fbc/yaml')?.enforce];
  };

  test.each([
    ['', ['on', undefined]],
    ['enforce: off', ['off', undefined]],
    ['enforce: false', ['off', undefined]],
    ['enforce: true', ['on', undefined]],
    ['rules: {fbc/yaml: {enforce: off}}', ['on', 'off']],
    ['rules: {fbc/yaml: {enforce: false, severity: error}}', ['on', 'off']],
    ['rules: {fbc/yaml: error}', ['on', 'on']],
    ['enforce: perhaps', [undefined, undefined]],
  ])('%j', (text, expected) => {
    expect(enforceOf(text)).toEqual(expected);
  });
});
