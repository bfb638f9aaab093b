import { resolve } from 'node:path';
import { startRegistry } from '../../oci/registry/embedded/server.ts';
import { plain } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';

export const command: Command = {
  words: 'registry',
  operands: 'DIR',
  options: {
    listen: {
      value: 'HOST:PORT',
      description: 'address to listen on (default: 127.0.0.1:5000; port 0 selects a free port)',
    },
    'read-only': { description: 'reject pushes' },
    root: { value: 'NAME', description: 'repository name of the layout itself (default: catalog)' },
    quiet: { short: 'q', description: 'do not log requests' },
  },
  details: [
    'Runs until interrupted. Creates the layout if it does not exist. The registry uses plain HTTP and by default accepts',
    'connections from this machine only; use --listen to change that. Any client works, for example:',
    'skopeo copy --src-tls-verify=false docker://127.0.0.1:5000/NAME:TAG oci:elsewhere',
  ].join('\n'),
  examples: ['portolan registry ./images --listen 127.0.0.1:5000'],
  run: async (invocation, terminal) => {
    const directory = resolve(terminal.directory, invocation.operands[0] ?? '.');
    const quiet = invocation.flag('quiet');
    const root = invocation.text('root');
    const registry = await startRegistry({
      directory,
      ...listenAt(invocation),
      readOnly: invocation.flag('read-only'),
      ...(root === undefined ? {} : { root }),
      onRequest: ({ method, url, status, received, sent }) => {
        if (!quiet) terminal.err(`${method} ${plain(url)} ${status} (${received} bytes in, ${sent} out)\n`);
      },
    });
    await terminal.out(`serving ${directory} at ${registry.host}\n`);
    await terminal.interrupted();
    await registry.close();
    return 0;
  },
};

function listenAt(invocation: Invocation): { host: string; port: number } {
  const text = invocation.text('listen') ?? '127.0.0.1:5000';
  const [, host, port] = /^(.*):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65535) {
    throw usageError(command, `--listen must be HOST:PORT, not ${JSON.stringify(text)}`);
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
}
