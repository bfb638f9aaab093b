import { arch, platform } from 'node:os';
import type { OpmCommand } from './command.ts';

/** The version whose answers ours are compared with, and the commit that was built. */
const OPM_VERSION = 'v1.73.0';
const OPM_COMMIT = '4f9d6f222b01aac84c52de7dbdaa6a289380a303';

/** Go's names of what Node calls otherwise. */
const GO_NAMES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
  ['win32', 'windows'],
]);

export const command: OpmCommand = {
  words: 'version',
  summary: 'Print the version of opm that these commands are compatible with.',
  operands: '',
  least: 0,
  most: Number.POSITIVE_INFINITY,
  flags: {},
  run: async (_call, { terminal }) => {
    const goName = (name: string): string => GO_NAMES.get(name) ?? name;
    const fields = [
      ['OpmVersion', OPM_VERSION],
      ['GitCommit', OPM_COMMIT],
      ['BuildDate', ''],
      ['GoOs', goName(platform())],
      ['GoArch', goName(arch())],
    ];
    const text = fields.map(([name, value]) => `${name}:${JSON.stringify(value)}`).join(', ');
    await terminal.out(`Version: version.Version{${text}}\n`);
    return 0;
  },
};
