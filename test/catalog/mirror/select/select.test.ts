import { describe, expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { needsWith } from '../../../../catalog/mirror/select/bundle-requirements.ts';
import { parseChoice, selectPackages } from '../../../../catalog/mirror/select/select.ts';

const bundle = (name: string, version: string, ...properties: readonly string[]): string =>
  `---\nschema: olm.bundle\npackage: ${name}\nname: ${name}.v${version}\nimage: quay.io/${name}/bundle:v${version}\nproperties:\n` +
  [`{type: olm.package, value: {packageName: ${name}, version: ${version}}}`, ...properties]
    .map((property) => `- ${property}\n`)
    .join('');

const CATALOG = [
  '---\nschema: olm.package\nname: app\ndefaultChannel: stable\n',
  '---\nschema: olm.channel\npackage: app\nname: stable\nentries:\n',
  '- {name: app.v3.0.0, replaces: app.v2.0.0, skips: [app.v1.5.0]}\n',
  '- {name: app.v2.0.0, replaces: app.v1.0.0}\n- {name: app.v1.5.0}\n- {name: app.v1.0.0}\n',
  '---\nschema: olm.channel\npackage: app\nname: old\nentries: [{name: app.v1.0.0}]\n',
  ...['1.0.0', '1.5.0', '2.0.0'].map((version) => bundle('app', version)),
  bundle('app', '3.0.0', "{type: olm.package.required, value: {packageName: db, versionRange: '<2.0.0'}}"),
  '---\nschema: olm.package\nname: db\ndefaultChannel: main\n',
  '---\nschema: olm.channel\npackage: db\nname: main\nentries:\n',
  '- {name: db.v2.0.0, replaces: db.v1.1.0}\n- {name: db.v1.1.0, replaces: db.v1.0.0}\n- {name: db.v1.0.0}\n',
  ...['1.0.0', '1.1.0', '2.0.0'].map((version) => bundle('db', version)),
].join('');

const read = async (): Promise<Uint8Array> => new TextEncoder().encode(CATALOG);
const { blobs } = await load({ files: async () => [{ path: 'catalog.yaml', read }] });

function select(...choices: readonly string[]) {
  const {
    blobs: chosen,
    kept,
    findings,
  } = selectPackages(catalogOf(blobs), choices.map(parseChoice), needsWith(undefined));
  return {
    bundles: chosen.bundles.map(({ name }) => name).sort(),
    kept: kept.map(({ bundle: name }) => name),
    why: kept.map(({ why }) => why),
    findings: findings.map(({ message }) => message),
    channels: chosen.channels.map(({ name }) => name),
    defaults: chosen.packages.map(({ defaultChannel }) => defaultChannel),
  };
}

describe('a selection is a catalog by itself', () => {
  test('a package comes whole, and with what it requires: the highest version that does', () => {
    const { bundles, kept, why, findings } = select('app');
    expect(bundles).toEqual(['app.v1.0.0', 'app.v1.5.0', 'app.v2.0.0', 'app.v3.0.0', 'db.v1.1.0']);
    expect(kept).toEqual(['db.v1.1.0']);
    expect(why[0]).toContain('required by app/app.v3.0.0');
    expect(findings).toEqual([]);
  });

  test.each([[['db@main', 'db@>=2.0.0']], [['db', 'db@main']], [['db', 'db']]])(
    '%j: a choice of what is chosen already is accepted',
    (choices) => {
      const { bundles, findings } = select(...choices);
      expect(findings).toEqual([]);
      expect(bundles).toEqual(['db.v1.0.0', 'db.v1.1.0', 'db.v2.0.0']);
    },
  );

  test('what lies between chosen versions stays: it is the way up', () => {
    const { bundles, kept, why } = select('app@1.0.0 || 3.0.0');
    expect(bundles).toEqual(['app.v1.0.0', 'app.v2.0.0', 'app.v3.0.0', 'db.v1.1.0']);
    expect(kept).toEqual(['app.v2.0.0', 'db.v1.1.0']);
    expect(why[0]).toContain('between two selected versions in channel stable');
  });

  test('a version that is skipped goes straight to the one that skips it', () => {
    expect(select('app@>=1.5.0 <2.0.0 || 3.0.0').bundles).toEqual(['app.v1.5.0', 'app.v3.0.0', 'db.v1.1.0']);
  });

  test('a channel alone becomes the default, and that is said', () => {
    const { bundles, channels, defaults, findings } = select('app@old');
    expect(bundles).toEqual(['app.v1.0.0']);
    expect(channels).toEqual(['old']);
    expect(defaults).toEqual(['old']);
    expect(findings[0]).toContain('the default channel "stable" is not selected');
  });

  test.each([
    ['nothing', 'the catalog has no package "nothing"'],
    ['app@beta', 'neither a version range nor a channel of app, which has old, stable'],
    ['app@>9.0.0', 'no bundle of app is in >9.0.0'],
  ])('%s is refused', (choice, message) => {
    expect(select(choice).findings.join()).toContain(message);
  });
});
