import { resolve } from 'node:path';
import type { Bundle } from '../../../catalog/fbc/model.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { fetchBundles } from '../../catalogs/bundle/fetch.ts';
import { amountText, linesText } from '../../text.ts';
import { type Command, usageError } from '../command.ts';
import { noPackage } from '../no-package.ts';
import { printUnread, readOperands } from '../operands.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'bundle fetch',
  operands: 'DIR|REFERENCE…',
  details: [
    'Writes PACKAGE/VERSION/manifests and PACKAGE/VERSION/metadata to the directory. Pass it to audit and check as',
    '--bundles, for checks that need manifests. Images referenced by digest that already exist there are not downloaded',
    'again. Bundles whose manifests are part of the catalog are skipped.',
  ].join('\n'),
  options: {
    to: { value: 'DIR', description: 'directory to write the bundles to', required: true },
    package: { value: 'NAME', description: 'only this package', multiple: true },
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
    const missing = wanted.find((name) => !catalogs.some(({ catalog }) => catalog.packages.has(name)));
    if (missing !== undefined)
      throw noPackage(
        missing,
        catalogs.map(({ catalog }) => catalog),
      );
    const isPartial = printUnread(catalogs, terminal);
    const bundles = catalogs
      .flatMap(({ catalog }) => catalog.blobs.bundles)
      .filter(({ package: packageName }) => wanted.length === 0 || wanted.includes(packageName))
      // With its manifests in the catalog, a bundle needs no image.
      .filter(
        ({ image, properties }) =>
          image !== '' && !properties.some(({ type }) => type === 'olm.bundle.object'),
      );
    const images = new Map(bundles.map((bundle) => [folderOf(bundle), bundle]));
    if (images.size === 0) throw usageError(command, 'no bundle images to fetch in the catalogs');
    return withRegistryClient(invocation, terminal, {}, async (client) => {
      const access = { directory: terminal.directory, registry: () => client };
      const { fetched, kept, failed } = await fetchBundles([...images.values()], to, access);
      for (const { bundle, why } of failed) terminal.err(linesText([`${bundle.name}: ${why}`]));
      terminal.err(
        `${amountText(fetched, 'bundle')} fetched, ${kept} already existed, ${failed.length} failed\n`,
      );
      return failed.length > 0 || isPartial ? 2 : 0;
    });
  },
};

/** The folder of a bundle, by which images are told apart: of two images of one version, that of the later catalog counts. */
function folderOf({ package: name, version, name: own }: Bundle): string {
  return `${name}/${version ? formatVersion(version) : own}`;
}
