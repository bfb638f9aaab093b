import { resolve } from 'node:path';
import { convertToBundles } from '../../../catalog/bundle/package-bundles.ts';
import { convertPackage } from '../../../catalog/bundle/package-catalog.ts';
import { readPackageFolder } from '../../../catalog/bundle/package-manifest.ts';
import { compareFindings } from '../../../catalog/finding.ts';
import { closedDirectory } from '../../directory.ts';
import { countText, findingText } from '../../text.ts';
import { writeFiles } from '../../write.ts';
import type { Command } from '../command.ts';

export const command: Command = {
  words: 'convert package-manifests',
  operands: 'DIR',
  details:
    'Prints the catalog. Warnings about input that older tools reject, and about omitted content, go to standard error.\n' +
    'If the package cannot be converted, nothing is written.',
  options: {
    bundles: {
      value: 'DIR',
      description: 'also write a bundle for each version to this directory, as operator-sdk does',
    },
  },
  examples: [
    'portolan convert package-manifests manifests/etcd --bundles bundles > catalogs/etcd/catalog.json',
  ],
  run: async ({ operands: [root = '.'], text }, terminal) => {
    const folder = await readPackageFolder(closedDirectory(resolve(terminal.directory, root)));
    const { json, findings } = convertPackage(folder);
    const { files, findings: moved } = convertToBundles(folder);
    const target = text('bundles');
    const all = [...folder.findings, ...findings, ...(target === undefined ? [] : moved)].sort(
      compareFindings,
    );
    for (const finding of all) terminal.err(findingText(finding));
    if (json === undefined || all.some(({ severity }) => severity === 'error')) {
      terminal.err(`FAIL: ${countText(all)}\n`);
      return 1;
    }
    await terminal.out(json);
    if (target !== undefined) {
      const sources = new Map(folder.files.map(({ path, bytes }) => [path, bytes]));
      const output = resolve(terminal.directory, target);
      for (const [folderPath, written] of byFolder(files, sources))
        writeFiles(resolve(output, folderPath), written);
    }
    return 0;
  },
};

/** Files by folder, then by name: `writeFiles` takes one folder. A file is new, or the bytes of one that was read. */
function byFolder(
  files: ReadonlyMap<string, { readonly text: string } | { readonly from: string }>,
  sources: ReadonlyMap<string, Uint8Array>,
): Map<string, Map<string, string | Uint8Array>> {
  const folders = new Map<string, Map<string, string | Uint8Array>>();
  for (const [path, file] of files) {
    const slash = path.lastIndexOf('/');
    const folder = path.slice(0, slash);
    const members = folders.get(folder) ?? new Map<string, string | Uint8Array>();
    const content = 'text' in file ? file.text : (sources.get(file.from) ?? '');
    folders.set(folder, members.set(path.slice(slash + 1), content));
  }
  return folders;
}
