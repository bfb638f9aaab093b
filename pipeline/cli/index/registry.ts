import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { readText } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { htpasswdAccounts } from '../../oci/registry/embedded/htpasswd.ts';
import { type RegistryOptions, startRegistry } from '../../oci/registry/embedded/server.ts';
import type { Terminal } from '../../terminal.ts';
import { plainText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { parseAddress } from '../formed-option.ts';

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
    'tls-cert': { value: 'FILE', description: 'certificate in PEM format, with its chain; serves HTTPS' },
    'tls-key': { value: 'FILE', description: 'private key of the certificate in PEM format' },
    htpasswd: { value: 'FILE', description: 'accounts with bcrypt passwords, as htpasswd -B writes them' },
    'open-to-all': {
      description: 'without --htpasswd: let everybody pull and push, at any address and under any host name',
    },
    'anonymous-pull': { description: 'with --htpasswd: let everybody pull' },
    quiet: { short: 'q', description: 'do not log requests' },
  },
  details: [
    'Runs until interrupted. Creates the layout if it does not exist. Without --tls-cert the registry uses plain HTTP. By default it',
    'accepts connections from this machine only; use --listen to change that, with --htpasswd or --open-to-all. After ten wrong',
    'passwords, an address gets status 429 for a minute. Passwords have at most 72 bytes: bcrypt reads no more of them. Any client',
    'works, for example:',
    'skopeo copy --src-tls-verify=false docker://127.0.0.1:5000/NAME:TAG oci:elsewhere',
    'Other programs may read the directory at any time. To free disk space, use portolan registry gc.',
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
      openToAll: invocation.flag('open-to-all'),
      ...tlsOf(invocation, terminal),
      ...accessOf(invocation, terminal),
      onRequest: ({ method, url, status, received, sent }) => {
        if (!quiet)
          terminal.err(`${method} ${plainText(url)} ${status} (${received} bytes in, ${sent} out)\n`);
      },
    });
    await terminal.out(`serving ${directory} at ${registry.host}\n`);
    await terminal.interrupted();
    await registry.close();
    return 0;
  },
};

/** The certificate and key that the options name. @throws PipelineError `usage` if they do not fit */
function tlsOf(invocation: Invocation, { directory }: Terminal): Pick<RegistryOptions, 'tls'> {
  const [cert, key] = [invocation.text('tls-cert'), invocation.text('tls-key')];
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined)
    throw usageError(command, '--tls-cert and --tls-key go together');
  const tls = { cert: readText(resolve(directory, cert)), key: readText(resolve(directory, key)) };
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new PipelineError(
      'usage',
      `${cert} and ${key} are not a certificate and its private key in PEM format`,
      { cause },
    );
  }
  return { tls };
}

/** Who may use the registry: the accounts of `--htpasswd`. @throws PipelineError `usage` */
function accessOf(invocation: Invocation, { directory }: Terminal): Pick<RegistryOptions, 'access'> {
  const file = invocation.text('htpasswd');
  const anonymousPull = invocation.flag('anonymous-pull');
  if (file === undefined) {
    if (anonymousPull)
      throw usageError(command, '--anonymous-pull needs --htpasswd: without accounts everybody may pull');
    return {};
  }
  const accounts = htpasswdAccounts(readText(resolve(directory, file)), file);
  return { access: { kind: 'basic', accounts, anonymousPull } };
}

/** The address of `--listen`, or the usual one. @throws PipelineError `usage` */
function listenAt(invocation: Invocation): { host: string; port: number } {
  const text = invocation.text('listen') ?? '127.0.0.1:5000';
  const address = parseAddress(text);
  if (address) return address;
  throw usageError(command, `--listen must be HOST:PORT, not ${JSON.stringify(text)}`);
}
