import { basename, resolve } from 'node:path';
import { type Address, serveCatalog } from '../../catalogs/serve/serve.ts';
import type { OpenCatalog } from '../../catalogs/source/open.ts';
import type { Terminal } from '../../terminal.ts';
import { amountText, findingText } from '../../text.ts';
import { type Command, type Invocation, usageError } from '../command.ts';
import { parseAddress } from '../formed-option.ts';
import { openOperand } from '../operands.ts';
import { REGISTRY_OPTIONS } from '../registry-options.ts';

export const command: Command = {
  words: 'serve',
  operands: 'DIR|IMAGE',
  options: {
    listen: {
      value: 'HOST:PORT|off',
      description: 'address for OLM v0, over gRPC (default: 127.0.0.1:50051; port 0 selects a free port)',
    },
    http: {
      value: 'HOST:PORT|off',
      description: 'address for OLM v1, over HTTP (default: 127.0.0.1:8080; port 0 selects a free port)',
    },
    name: {
      value: 'NAME',
      description: 'name of the catalog for OLM v1 (default: the name of the directory or image)',
    },
    ...REGISTRY_OPTIONS,
  },
  details: [
    'Runs until interrupted. Over gRPC it serves api.Registry and api.ExperimentalRegistry as opm serve does, with health',
    'checks and reflection. Over HTTP it serves /catalogs/NAME/api/v1/all and /catalogs/NAME/api/v1/metas as catalogd does,',
    'and /catalogs/NAME/all.json as in OpenShift 4.17. Neither uses TLS, so by default both accept connections from this',
    'machine only.',
    '',
    'IMAGE is a reference, oci:DIR, oci-archive:FILE or docker-archive:FILE; Portolan downloads only the layers that contain',
    'the catalog. It does not serve a catalog that opm would refuse to serve.',
  ].join('\n'),
  examples: [
    'portolan serve catalogs/v4.20',
    'portolan serve quay.io/operatorhubio/catalog:latest --http off',
    'grpcurl -plaintext localhost:50051 api.Registry/ListPackages',
    "curl 'http://localhost:8080/catalogs/v4.20/api/v1/metas?schema=olm.package'",
  ],
  run: async (invocation, terminal) => {
    const [operand = '.'] = invocation.operands;
    const [grpc, http] = [addressOf(invocation, 'listen', 50051), addressOf(invocation, 'http', 8080)];
    const opened = await openOperand(operand, invocation, terminal);
    const name = invocation.text('name') ?? nameOf(opened, terminal);
    try {
      const serving = await serveCatalog({ source: opened.source, name, grpc, http, now: terminal.now() });
      if (serving.kind === 'refused') {
        for (const finding of serving.findings) terminal.err(findingText(finding));
        terminal.err('FAIL: opm would not serve this catalog\n');
        return 1;
      }
      const { packages } = serving;
      const lines = [
        `serving ${amountText(packages, 'package')} of ${opened.name}`,
        ...(grpc ? [`  gRPC  ${hostText(grpc, serving.grpc)}`] : []),
        ...(http ? [`  HTTP  http://${hostText(http, serving.http)}/catalogs/${name}/api/v1/all`] : []),
      ];
      await terminal.out(`${lines.join('\n')}\n`);
      await terminal.interrupted();
      await serving.close();
      return 0;
    } finally {
      await opened.close();
    }
  },
};

/**
 * The address that an option names, or the usual port of this machine; undefined for `off`.
 *
 * @throws PipelineError `usage`
 */
function addressOf(invocation: Invocation, option: string, usual: number): Address | undefined {
  const text = invocation.text(option) ?? `127.0.0.1:${usual}`;
  if (text === 'off') return undefined;
  const address = parseAddress(text);
  if (address) return address;
  throw usageError(command, `--${option} must be HOST:PORT or off, not ${JSON.stringify(text)}`);
}

/** `HOST:PORT`, with an IPv6 address in brackets. @param port that was chosen, if any free one was asked for */
function hostText({ host }: Address, port: number | undefined): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What the directory or the image is called, as a name that Kubernetes takes: the name of a ClusterCatalog. */
function nameOf({ name: operand, image }: OpenCatalog, { directory }: Terminal): string {
  const repository = image && image.reference.registry !== '' ? image.reference.repository : undefined;
  const last = basename(repository ?? resolve(directory, operand));
  const name = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return name === '' ? 'catalog' : name;
}
