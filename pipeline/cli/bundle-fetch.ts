import { resolve } from 'node:path';
import type { Bundle } from '../../catalog/model.ts';
import { formatVersion } from '../../catalog/version.ts';
import { fetchBundles } from '../bundle/fetch.ts';
import { plain } from '../report/text.ts';
import { type Command, usageError } from './command.ts';
import { readOperands } from './operands.ts';
import { registryClientFor } from './registry-access.ts';
import { REGISTRY_OPTIONS } from './registry-options.ts';

export const command: Command = {
  words: 'bundle fetch',
  summary: 'Fetch the bundle images of catalogs into directories, for what only manifests tell.',
  operands: 'DIR|REFERENCE…',
  details: [
    'Writes PACKAGE/VERSION/manifests and metadata below --to, which audit and check then take as --bundles. An image',
    'that is named by digest and is there is not fetched again. Bundles whose manifests are in the catalog are left out.',
  ].join('\n'),
  options: {
    to: { value: 'DIR', description: 'where the bundles go' },
    package: { value: 'NAME', description: 'only the bundles of this package', multiple: true },
    ...REGISTRY_OPTIONS,
  },
  examples: [
    'portolan bundle fetch catalogs/v4.20 --package etcd --to bundles',
    'portolan audit catalogs/v4.20 --bundles bundles',
  ],
  run: async (invocation, terminal) => {
    const to = resolve(terminal.directory, invocation.needed('to'));
    const wanted = invocation.list('package');
    const catalogs = await readOperands(invocation.operands, invocation, terminal);
    const bundles = catalogs
      .flatMap(({ catalog }) => catalog.blobs.bundles)
      .filter(({ package: of }) => wanted.length === 0 || wanted.includes(of))
      .filter(
        ({ image, properties }) =>
          image !== '' && !properties.some(({ type }) => type === 'olm.bundle.object'),
      );
    const images = new Map(bundles.map((bundle) => [folderOf(bundle), bundle]));
    if (images.size === 0) throw usageError(command, 'the catalogs name no such bundle image');
    const client = registryClientFor(invocation, terminal);
    try {
      const access = { directory: terminal.directory, registry: () => client };
      const { fetched, kept, failed } = await fetchBundles([...images.values()], to, access);
      for (const { bundle, why } of failed) terminal.err(`${plain(bundle.name)}: ${plain(why)}\n`);
      terminal.err(`${fetched} bundles fetched, ${kept} there already, ${failed.length} failed\n`);
      return failed.length > 0 ? 2 : 0;
    } finally {
      client.close();
    }
  },
};

/** Two images of one version go into one folder: the later catalog's counts. */
function folderOf({ package: name, version, name: own }: Bundle): string {
  return `${name}/${version ? formatVersion(version) : own}`;
}
