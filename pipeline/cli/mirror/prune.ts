import { resolve } from 'node:path';
import { readDeleteList } from '../../../catalog/mirror/documents/delete-list.ts';
import { formatReference } from '../../../catalog/reference.ts';
import { readText } from '../../directory.ts';
import { pruneImages } from '../../mirror/prune.ts';
import { amountText, findingText, plainText } from '../../text.ts';
import type { Command } from '../command.ts';
import { withRegistryClient } from '../registry-access.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'mirror prune',
  operands: 'FILE',
  options: {
    yes: { description: 'do not ask for confirmation' },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'FILE is the output of mirror diff --delete-images or oc-mirror delete --generate. Asks for confirmation first. If the',
    'registry cannot delete a single tag, an image with another tag that must stay is kept. The registry frees disk space',
    'when it collects garbage.',
  ].join('\n'),
  examples: ['portolan mirror diff last/ mirror/ --delete-images old.yaml && portolan mirror prune old.yaml'],
  run: async (invocation, terminal) => {
    const [file = ''] = invocation.operands;
    const { images, findings } = readDeleteList(readText(resolve(terminal.directory, file)), file);
    for (const finding of findings) terminal.err(findingText(finding));
    if (findings.length > 0) return 1;
    for (const image of images) terminal.err(`- ${plainText(formatReference(image))}\n`);
    if (!invocation.flag('yes')) {
      const answer = await terminal.ask(`delete ${amountText(images.length, 'image')}? (yes/no) `);
      if (answer.trim() !== 'yes') {
        terminal.err('nothing was deleted\n');
        return 1;
      }
    }
    const hosts = [...new Set(images.map(({ registry }) => registry))];
    return withRegistryClient(invocation, terminal, { hosts }, async (client) => {
      const { deleted, absent, failed } = await pruneImages(client, images);
      for (const { image, why } of failed) terminal.err(`failed ${plainText(image)}: ${plainText(why)}\n`);
      await terminal.out(
        `${amountText(images.length, 'image')}: ${deleted.length} deleted, ${absent.length} did not exist, ${failed.length} failed\n`,
      );
      return failed.length > 0 ? 1 : 0;
    });
  },
};
