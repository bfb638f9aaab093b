/** What the gate of a host is asked with, against a fake forge of `hub.ts`. */
import type { GateRequest } from '../../functions/gate.ts';
import type { GateForge } from '../../pipeline/forge/forge.ts';
import { gitHubForge } from '../../pipeline/github/forge.ts';
import { unpaced } from './github/client.ts';
import { TOKEN } from './github/forge.ts';
import type { Hub } from './hub.ts';

/** @param forge GitHub, unless another one is given over the same hub */
export function gateRequest(hub: Hub, forge: GateForge = gitHubOf(hub)): GateRequest {
  return {
    forge,
    source: { url: `${hub.forge.url}/example/catalogs.git` },
    token: TOKEN,
    git: { searchPath: process.env['PATH'] },
    registries: {},
    now: new Date('2026-01-01T00:00:00Z'),
    log: (line) => void hub.log.push(line),
  };
}

function gitHubOf(hub: Hub): GateForge {
  return gitHubForge({ github: unpaced(hub.forge), repository: { owner: 'example', repo: 'catalogs' } });
}
