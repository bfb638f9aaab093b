import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderOrder } from '../../../../catalog/fbc/render.ts';
import { loadDatabase, readRows } from '../../../../pipeline/catalogs/database/load.ts';
import { openDatabase } from '../../../../pipeline/catalogs/database/open.ts';
import { textOf } from '../../../../pipeline/catalogs/write-blobs.ts';
import { runCommandLine } from '../../../../pipeline/cli/main.ts';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { capture } from '../../../conformance/fbc-terminal.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { withSharedPages } from '../../../fakes/shared-pages.ts';
import { database } from '../../../fakes/sqlite.ts';

/** Databases that opm v1.73.0 made of bundles, and what it renders of them. */
const fixture = (name: string): string =>
  readFileSync(`test/pipeline/catalogs/database/fixtures/${name}`, 'utf8');

let work = '';
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'database-'));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

async function run(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const { terminal, printed, complaints } = capture(work, '');
  const code = await runCommandLine(words, '0.0.0', terminal);
  return { code, out: printed(), err: complaints() };
}

async function rendered(bytes: Uint8Array): Promise<string> {
  const { blobs, findings } = await loadDatabase(bytes, 'index.db');
  expect(findings).toEqual([]);
  return textOf(renderOrder(blobs), 'json');
}

describe('142: a file beside a database', () => {
  const LOG = Buffer.from('377f0682002de218000010000000000000', 'hex');
  const JOURNAL = Buffer.from('d9d505f920a163d70000000000000000', 'hex');

  test.each([
    ['-wal', LOG],
    ['-journal', JOURNAL],
  ])('index.db%s with changes is an error', async (ending, bytes) => {
    writeFileSync(join(work, 'index.db'), await database(fixture('replaces.sql')));
    writeFileSync(join(work, `index.db${ending}`), bytes);
    symlinkSync('index.db', join(work, 'linked.db'));
    for (const name of ['index.db', 'linked.db']) {
      const { code, err } = await run('render', name);
      expect([code, err]).toEqual([2, expect.stringContaining(`${name} is not complete: `)]);
    }
  });

  test('in the layers of an image is an error, too, if it has changes', async () => {
    const bytes = await database(fixture('replaces.sql'));
    const labels = { 'operators.operatorframework.io.index.database.v1': '/index.db' };
    const render = async (files: Record<string, string | Uint8Array>) => {
      const layout = layoutRegistry(await openLayout(join(work, 'images'), { create: true }));
      const image = await labelledImage(labels, { 'index.db': bytes, ...files });
      await pushImage(layout, { kind: 'tag', registry: '', repository: '', tag: 'v1' }, { image });
      return run('render', 'oci:images:v1');
    };
    for (const [ending, log] of [
      ['-wal', LOG],
      ['-journal', JOURNAL],
    ] as const) {
      const { code, err } = await render({ [`index.db${ending}`]: log });
      const message = `oci:images:v1: /index.db is not complete: /index.db${ending} has changes of it`;
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    }
    for (const files of [{ 'index.db-wal': '' }, { 'other-wal': LOG }])
      expect((await render(files)).code).toBe(0);
  });

  test.each([
    ['-wal', Buffer.alloc(0)],
    ['-journal', Buffer.alloc(512)],
    ['.txt', LOG],
  ])('index.db%s without changes is not', async (ending, bytes) => {
    writeFileSync(join(work, 'index.db'), await database(fixture('replaces.sql')));
    writeFileSync(join(work, `index.db${ending}`), bytes);
    expect((await run('render', 'index.db')).out).toBe(fixture('replaces.json'));
  });
});

describe('a database is the catalog that opm renders of it', () => {
  test.each(['replaces', 'skippatch', 'deprecated'])('%s', async (name) => {
    expect(await rendered(await database(fixture(`${name}.sql`)))).toBe(fixture(`${name}.json`));
  });

  test('as a file, and in an image whose label names it, for every command', async () => {
    const bytes = await database(fixture('replaces.sql'));
    writeFileSync(join(work, 'index.db'), bytes);
    const layout = layoutRegistry(await openLayout(join(work, 'images'), { create: true }));
    const labels = { 'operators.operatorframework.io.index.database.v1': './database/index.db' };
    const image = await labelledImage(labels, { 'database/index.db': bytes });
    await pushImage(layout, { kind: 'tag', registry: '', repository: '', tag: 'v1' }, { image });
    for (const reference of ['index.db', 'oci:images:v1']) {
      expect((await run('opm', 'render', reference)).out).toBe(fixture('replaces.json'));
      expect((await run('render', reference)).out).toBe(fixture('replaces.json'));
      expect((await run('opm', 'alpha', 'list', 'packages', reference)).out).toMatch(/^tug .* stable$/m);
      expect((await run('list', 'bundles', reference)).out).toContain('tug.v1.1.1');
      const { code } = await run('opm', 'migrate', reference, `out-${reference.length}`, '-o', 'json');
      expect(code).toBe(0);
      const file = readFileSync(join(work, `out-${reference.length}/tug/catalog.json`), 'utf8');
      expect(fixture('replaces.json')).toContain(file);
    }
  });

  test('migrated to csv.metadata', async () => {
    writeFileSync(join(work, 'index.db'), await database(fixture('replaces.sql')));
    const { out } = await run(
      'opm',
      'render',
      'index.db',
      '--migrate-level',
      'bundle-object-to-csv-metadata',
    );
    expect(out).toContain('olm.csv.metadata');
    expect(out).not.toContain('olm.bundle.object');
  });
});

describe('schemas of older versions', () => {
  const NO_TRIGGERS = 'DROP TRIGGER api_provider_cleanup; DROP TRIGGER api_requirer_cleanup;';
  const byEntry = (table: string): string => `
    CREATE TABLE n (group_name TEXT, version TEXT, kind TEXT, channel_entry_id INTEGER);
    INSERT INTO n SELECT group_name, version, kind, entry_id FROM ${table} a
      JOIN channel_entry c ON c.operatorbundle_name = a.operatorbundle_name;
    DROP TABLE ${table};
    ALTER TABLE n RENAME TO ${table};`;
  /** How each schema becomes the one before it. */
  const STEPS: readonly (readonly [version: number, sql: string])[] = [
    [11, 'DROP TABLE deprecated'],
    [10, 'ALTER TABLE operatorbundle DROP COLUMN substitutesfor'],
    [8, 'DROP TABLE properties'],
    [7, 'DROP TABLE dependencies'],
    [
      6,
      `${NO_TRIGGERS} ALTER TABLE operatorbundle DROP COLUMN replaces; ALTER TABLE operatorbundle DROP COLUMN skips;`,
    ],
    [5, `DROP INDEX pk; ${byEntry('api_provider')} ${byEntry('api_requirer')}`],
    [4, 'ALTER TABLE operatorbundle DROP COLUMN version; ALTER TABLE operatorbundle DROP COLUMN skiprange'],
    [2, 'DROP TABLE api_requirer'],
    [1, "UPDATE operatorbundle SET bundlepath = ''; ALTER TABLE operatorbundle DROP COLUMN bundlepath"],
    [0, 'DROP TABLE related_image'],
  ];

  /** Bundles of the fixture all with their manifests, as databases had them then, and without what is younger. */
  const own = `${fixture('skippatch.sql')}`;

  test.each(STEPS.map(([version]) => version))(
    'version %i gives the same graph and properties',
    async (oldest) => {
      const steps = STEPS.filter(([version]) => version >= oldest).map(([, sql]) => sql);
      const csvs =
        'UPDATE operatorbundle SET csv = (SELECT replace(b.csv, b.version, operatorbundle.version) FROM operatorbundle b WHERE b.csv IS NOT NULL) WHERE csv IS NULL;';
      const before = await loadDatabase(await database('PRAGMA foreign_keys = 0', own, csvs), 'a.db');
      const after = await loadDatabase(
        await database('PRAGMA foreign_keys = 0', own, csvs, ...steps),
        'a.db',
      );
      const facts = ({ blobs }: typeof before): unknown => ({
        channels: blobs.channels.map(({ value }) => value),
        bundles: blobs.bundles.map(({ name, properties }) => [name, JSON.stringify(properties)]),
      });
      expect(facts(after)).toEqual(facts(before));
    },
  );
});

describe('what is no database of an index image is refused in one sentence', () => {
  const refused = async (bytes: Uint8Array): Promise<string> =>
    loadDatabase(bytes, 'index.db').then(
      () => '',
      (error: Error) => error.message,
    );
  const TABLES = `
    CREATE TABLE package (name TEXT, default_channel TEXT);
    CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT);
    CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
      operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
    CREATE TABLE operatorbundle (name TEXT, csv TEXT, bundle TEXT, bundlepath TEXT, version TEXT, skiprange TEXT);
    CREATE TABLE properties (type TEXT, value TEXT, operatorbundle_name TEXT);
    CREATE TABLE dependencies (type TEXT, value TEXT, operatorbundle_name TEXT);
    CREATE TABLE related_image (image TEXT, operatorbundle_name TEXT);
    INSERT INTO package VALUES ('p', 'c');
    INSERT INTO channel VALUES ('c', 'p', 'p.v1');
    INSERT INTO channel_entry VALUES (1, 'c', 'p', 'p.v1', NULL, 0);`;
  const bundle = (csv: string, version = '1.0.0', manifests = 'NULL'): string =>
    `INSERT INTO operatorbundle VALUES ('p.v1', '${csv}', ${manifests}, 'quay.io/x/p:v1', '${version}', '')`;

  test('no database, half of one, and bytes that were turned', async () => {
    expect(await refused(Buffer.from('text'))).toBe('index.db is not a SQLite database');
    const good = await database(fixture('replaces.sql'));
    expect(await refused(good.subarray(0, 4096))).toContain('SQLite reports: ');
    const turned = good.map((byte, i) => (i > 4096 && i % 7 === 0 ? byte ^ 0x5a : byte));
    expect(await refused(turned)).toMatch(/^index\.db: /);
  });

  test('other tables, missing columns, views that would never end, columns that are computed', async () => {
    expect(await refused(await database('CREATE TABLE a (b)'))).toContain('it has no table package');
    expect(await refused(await database('CREATE TABLE package (name TEXT)'))).toContain(
      'has no column default_channel',
    );
    const endless =
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS name, n AS default_channel FROM r';
    expect(await refused(await database(`CREATE VIEW package AS ${endless}`))).toContain(
      'package is not a plain table',
    );
    const computed = 'CREATE TABLE package (name TEXT, default_channel TEXT AS (hex(zeroblob(400000000))))';
    expect(await refused(await database(computed))).toContain(
      'the column default_channel of package is computed',
    );
  });

  test('what its rows hold', async () => {
    expect(await refused(await database(TABLES, bundle('{}', '1')))).toContain(
      'the version "1" of the bundle "p.v1" is not valid',
    );
    expect(await refused(await database(TABLES, bundle('{')))).toContain(
      'the ClusterServiceVersion of the bundle "p.v1" is not valid JSON',
    );
    expect(await refused(await database(TABLES, bundle('{}', '1.0.0', '\'{"kind":"X"}\'')))).toContain(
      'have no ClusterServiceVersion',
    );
    const lost = "INSERT INTO channel_entry VALUES (2, 'gone', 'p', 'p.v1', NULL, 0)";
    expect(await refused(await database(TABLES, bundle('{}'), lost))).toContain(
      'the channel "gone" of the package "p"',
    );
    const value = "INSERT INTO properties VALUES ('a', '{', 'p.v1')";
    expect(await refused(await database(TABLES, bundle('{}'), value))).toContain(
      'a value of "a" of the bundle "p.v1" is not valid JSON',
    );
  });

  const deep = `{"kind":"ClusterServiceVersion","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  test.each([
    [
      'a property',
      'a value of "a"',
      [bundle('{}'), `INSERT INTO properties VALUES ('a', '${deep}', 'p.v1')`],
    ],
    [
      'a dependency',
      'a value of "olm.package"',
      [bundle('{}'), `INSERT INTO dependencies VALUES ('olm.package', '${deep}', 'p.v1')`],
    ],
    ['a ClusterServiceVersion', 'the ClusterServiceVersion', [bundle(deep)]],
    ['manifests', 'the manifests', [bundle('{}', '1.0.0', `'${deep}'`)]],
  ])('43: deep JSON in %s', async (_, what, rows) => {
    const bytes = await database(TABLES, ...rows);
    expect(await refused(bytes)).toBe(
      `index.db: ${what} of the bundle "p.v1" is nested deeper than 1000 levels`,
    );
    writeFileSync(join(work, 'index.db'), bytes);
    expect(await run('list', 'bundles', 'index.db')).toMatchObject({
      code: 2,
      err: expect.not.stringContaining('bug'),
    });
  });

  test('a graph that opm refuses has findings', async () => {
    const twice = `
      INSERT INTO channel_entry VALUES (2, 'c', 'p', 'p.v2', NULL, 0);
      INSERT INTO operatorbundle VALUES ('p.v2', NULL, NULL, 'quay.io/x/p:v2', '2.0.0', '');`;
    const { findings } = await loadDatabase(await database(TABLES, bundle('{}'), twice), 'index.db');
    expect(findings.map(({ rule }) => rule)).toEqual(['channel/head']);
  });

  test('a chain that goes in a circle ends', async () => {
    const circle = 'UPDATE channel_entry SET replaces = 1';
    const { findings } = await loadDatabase(await database(TABLES, bundle('{}'), circle), 'index.db');
    expect(findings.length).toBeGreaterThan(0);
  });

  test('a constraint among the dependencies stays: opm loses it', async () => {
    const value = '{"failureMessage":"no","cel":{"rule":"true"}}';
    const constraint = `INSERT INTO dependencies VALUES ('olm.constraint', '${value}', 'p.v1')`;
    const { blobs } = await loadDatabase(await database(TABLES, bundle('{}'), constraint), 'index.db');
    expect(textOf(renderOrder(blobs), 'json')).toContain('"failureMessage": "no"');
  });

  test('pages that share their children, which would be rows without an end', async () => {
    const bytes = await database(TABLES, bundle('{}'));
    // The first table has the page behind the schema's.
    expect(await refused(withSharedPages(bytes, 2, 6))).toMatch(
      /^index\.db: the table package is damaged: SQLite reports: .*2nd reference to page/,
    );
  });

  test('what a table says of its rows is not computed', async () => {
    const checks = TABLES.replace('default_channel TEXT', "default_channel TEXT CHECK (name = 'other')");
    expect(checks).not.toBe(TABLES);
    const bytes = await database('PRAGMA ignore_check_constraints = 1', checks, bundle('{}'));
    expect(await refused(bytes)).toBe('');
  });

  test('a schema that SQLite would read without an end', async () => {
    const bytes = await database(TABLES);
    expect(await refused(withSharedPages(bytes, 1, 6))).toMatch(/: its schema contains page \d+ twice$/);
    expect(await refused(await database(TABLES, bundle('{}'), 'ANALYZE'))).toBe(
      'index.db: it has statistics, which SQLite reads with the schema',
    );
    const long = Buffer.from(await database(`CREATE TABLE a (b /* ${'long '.repeat(5000)} */)`));
    // The size of its first row, a number of three bytes, is the largest that these can say.
    long.writeUIntBE(0xffff7f, long.readUInt16BE(108), 3);
    expect(await refused(long)).toBe('index.db: its schema is longer than the file');
  });

  test('entries of one id, of which a join would make a row with each API', async () => {
    const older = `
      DROP TABLE properties; DROP TABLE dependencies; DROP TABLE channel_entry;
      CREATE TABLE channel_entry (entry_id INTEGER, channel_name TEXT, package_name TEXT,
        operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
      CREATE TABLE api_provider (group_name TEXT, version TEXT, kind TEXT, channel_entry_id INTEGER);`;
    const numbers = (count: number): string =>
      `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${count})`;
    const many = `
      INSERT INTO channel_entry ${numbers(500)} SELECT 1, 'c', 'p', 'p.v1', NULL, 0 FROM r;
      INSERT INTO api_provider ${numbers(500)} SELECT 'g', 'v1', 'K' || n, 1 FROM r;`;
    const opened = await openDatabase(await database(TABLES, bundle('{}'), older, many), 'index.db');
    const { bundles } = readRows(opened, 'index.db');
    opened.close();
    expect(bundles.get('p.v1')?.properties.length).toBe(500);
  });

  const numbered = (count: number): string =>
    `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < ${count})`;

  test('115: millions of tiny values, of which no more are read than the limit', async () => {
    const many = `INSERT INTO properties ${numbered(50)} SELECT 'a', '1', 'p.v1' FROM r`;
    const opened = await openDatabase(await database(TABLES, many), 'index.db', 100);
    const query = 'SELECT type, value FROM properties';
    const read: unknown[] = [];
    for (const cells of opened.rows(query)) read.push(...cells);
    expect(read.length).toBe(100);
    expect(() => [...opened.rows(query)]).toThrow('index.db has more than 100 values in its rows');
    opened.close();
    const millions = `INSERT INTO properties ${numbered(400_000)} SELECT '', '', 'p.v1' FROM r`;
    expect(await refused(await database(TABLES, bundle('{}'), millions))).toMatch(
      /^index\.db has more than 10\d{5} values in its rows$/,
    );
  });

  test('115: one large bundle in thousands of packages', async () => {
    const value = `[${'1,'.repeat(50_000)}1]`;
    const copies = (count: number): string[] => [
      bundle('{}'),
      `INSERT INTO properties VALUES ('a', '${value}', 'p.v1')`,
      `INSERT INTO package ${numbered(count)} SELECT 'p' || n, 'c' FROM r`,
      `INSERT INTO channel ${numbered(count)} SELECT 'c', 'p' || n, 'p.v1' FROM r`,
      `INSERT INTO channel_entry ${numbered(count)} SELECT n + 1, 'c', 'p' || n, 'p.v1', NULL, 0 FROM r`,
    ];
    expect(await refused(await database(TABLES, ...copies(300)))).toBe(
      'index.db: the bundles in several packages have more than 1000000 values',
    );
    expect(await refused(await database(TABLES, ...copies(10)))).toBe('');
  });

  test('a file that is neither directory nor database', async () => {
    mkdirSync(join(work, 'd'));
    writeFileSync(join(work, 'd/a.yaml'), 'schema: olm.package\nname: a\n');
    const { code, err } = await run('opm', 'render', 'd/a.yaml');
    expect(code).toBe(1);
    expect(err).toContain('d/a.yaml is neither a directory nor a database');
  });
});
