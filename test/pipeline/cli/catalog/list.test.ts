import { describe, expect, test } from 'vitest';
import { tableText } from '../../../../pipeline/cli/catalog/table.ts';
import { folder } from '../../../fakes/folder.ts';
import { runCommand } from '../../../fakes/terminal.ts';

const SAMPLE = 'test/catalogs/sample/catalogs/v4.20';

describe('portolan list', () => {
  test('packages, by name', async () => {
    const { exit, out } = await runCommand(['list', 'packages', SAMPLE]);
    expect(exit).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "PACKAGE              DISPLAY NAME         DEFAULT CHANNEL  HEAD   CHANNELS  BUNDLES  DEPRECATED
      ferry-operator       Ferry Operator       stable-2         2.0.0  2         3
      harbour-operator     Harbour Operator     stable           1.2.0  2         4
      lighthouse-operator  Lighthouse Operator  stable           2.1.0  1         3
      "
    `);
  });

  test('the display name of a package whose bundles hold their manifests', async () => {
    const csv = '{"kind": "ClusterServiceVersion", "spec": {"displayName": "Etcd"}}';
    const data = Buffer.from(csv).toString('base64');
    const bundle = `{schema: olm.bundle, package: a, name: a.v1, image: q/a, properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}, {type: olm.bundle.object, value: {data: ${data}}}]}`;
    const channel = '{schema: olm.channel, package: a, name: c, entries: [{name: a.v1}]}';
    const catalog = `{schema: olm.package, name: a, defaultChannel: c}\n---\n${channel}\n---\n${bundle}\n`;
    const at = folder({ 'catalog.yaml': catalog });
    const { out } = await runCommand(['list', 'packages', at, '--json']);
    expect(JSON.parse(out)).toMatchObject([{ package: 'a', displayName: 'Etcd' }]);
  });

  test('channels of one package, the default one first', async () => {
    const { out } = await runCommand(['list', 'channels', SAMPLE, '--package', 'harbour-operator']);
    expect(out).toMatchInlineSnapshot(`
      "PACKAGE           CHANNEL    HEAD                          VERSION     ENTRIES  DEFAULT  DEPRECATED
      harbour-operator  stable     harbour-operator.v1.2.0       1.2.0       3        default
      harbour-operator  candidate  harbour-operator.v1.3.0-rc.1  1.3.0-rc.1  4
      "
    `);
  });

  test('bundles, the newest first; as JSON with everything', async () => {
    const words = ['list', 'bundles', SAMPLE, '--package', 'ferry-operator'];
    const { out } = await runCommand(words);
    expect(out).toMatchInlineSnapshot(`
      "PACKAGE         CHANNEL   BUNDLE                 VERSION  REPLACES               SKIPS  SKIP RANGE  NOTES  IMAGE
      ferry-operator  stable-2  ferry-operator.v2.0.0  2.0.0    ferry-operator.v1.5.0                     head   registry.example.com/sea/ferry-operator-bundle@sha256:6c3607585744fe9386974770d58da50dd58f58853609e8b38c58a41253f502d7
      ferry-operator  stable-2  ferry-operator.v1.5.0  1.5.0                                                     registry.example.com/sea/ferry-operator-bundle@sha256:d6bbb9ba3a4c63c229355926faa2b18cf090a6447b81f61a0725511f8607e223
      ferry-operator  stable-1  ferry-operator.v1.5.0  1.5.0    ferry-operator.v1.4.0                     head   registry.example.com/sea/ferry-operator-bundle@sha256:d6bbb9ba3a4c63c229355926faa2b18cf090a6447b81f61a0725511f8607e223
      ferry-operator  stable-1  ferry-operator.v1.4.0  1.4.0                                                     registry.example.com/sea/ferry-operator-bundle@sha256:fb2c05c34655ae14b9067ea3ef05e66907e7916f1d519973c8bfa7ff2148a4af
      "
    `);
    const rows = JSON.parse((await runCommand([...words, '--json', '--olmv1'])).out);
    expect(rows[0]).toHaveProperty('provides');
  });

  test('a package that is not there', async () => {
    const { exit, err } = await runCommand(['list', 'bundles', SAMPLE, '--package', 'fery-operator']);
    expect({ exit, err }).toEqual({
      exit: 2,
      err: 'portolan: no catalog has the package "fery-operator"\n  did you mean ferry-operator?\n',
    });
  });
});

test('a table fits the terminal, and is whole where it is no terminal', () => {
  const rows = [['a', 'x'.repeat(60), 'y'.repeat(20)]];
  const titles = ['ONE', 'TWO', 'THREE'];
  const cut = tableText(titles, rows, { isScreen: true, columns: 50 });
  expect(cut.split('\n').every((line) => line.length <= 50)).toBe(true);
  expect(cut).toContain('x…');
  expect(tableText(titles, rows, { isScreen: false, columns: 50 })).toContain('x'.repeat(60));
  expect(tableText(['A'], [['\u001b[31m']], { isScreen: false, columns: 80 })).toBe('A\n\\u001b[31m\n');
});
