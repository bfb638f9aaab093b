// node scripts/run.mjs test/bench/graph.ts [CATALOG…]
//
// The cost of foresight, parsing apart: all rules about graphs over real catalogs, and over packages of
// the largest known shape and of multiples of it.
import { crdsOfBundle } from '../../catalog/crd/crd.ts';
import { load } from '../../catalog/fbc/load.ts';
import { catalogOf } from '../../catalog/fbc/model.ts';
import { detailedPathV0, detailedPathV1 } from '../../catalog/olm/foresight/detailed-path.ts';
import { v1Obstacles } from '../../catalog/olm/resolve/support.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { runForesight } from '../../catalog/rules/rule.ts';
import { sourceOf } from '../../catalog/source.ts';
import { parseVersion } from '../../catalog/version/version.ts';
import { catalogPlaces, readCatalogs } from '../../pipeline/catalogs/read-catalogs.ts';
import { worldsOf } from '../../pipeline/check/audit.ts';
import { largeCatalog, longChannel } from './large-catalog.ts';

const GRAPH = RULES.filter(({ id }) => id.startsWith('graph/'));
const AUDIT = { olm: ['v0', 'v1'], today: '2026-01-01' } as const;

const roots = process.argv.slice(2);
if (roots.length > 0) {
  const catalogs = await readCatalogs(catalogPlaces(roots, process.cwd()));
  const bundles = new Set(catalogs.flatMap(({ catalog }) => catalog.blobs.bundles));
  for (const bundle of bundles) {
    crdsOfBundle(bundle);
    v1Obstacles(bundle);
  }
  const before = process.cpuUsage();
  let findings = 0;
  for (const world of await worldsOf({ ...AUDIT, catalogs })) findings += runForesight(world, GRAPH).length;
  console.log(`${catalogs.length} real catalogs: ${milliseconds(before)} ms of CPU, ${findings} findings`);
}
for (const times of [1, 2, 5, 10, 20]) {
  const { text, bundles, edges } = largeCatalog(times);
  const { blobs } = await load(sourceOf({ 'catalog.json': text }));
  const catalogs = [
    { name: 'v4.20', prefix: '', source: sourceOf({}), catalog: catalogOf(blobs), unread: [], files: [] },
  ];
  const before = process.cpuUsage();
  const [world] = await worldsOf({ ...AUDIT, catalogs });
  if (world) runForesight(world, GRAPH);
  console.log(`x${times}: ${bundles} bundles, ${edges} expanded edges: ${milliseconds(before)} ms of CPU`);
}

for (const count of [1250, 2500, 5000]) {
  const { blobs } = await load(sourceOf({ 'catalog.json': longChannel(count) }));
  const catalog = catalogOf(blobs);
  const source = { name: 'v4.20', namespace: 'olm', priority: 0, serving: true, catalog };
  const scope = { catalogs: [source] };
  const from = { name: 'p.v1.0.0', version: parseVersion('1.0.0') };
  const before = process.cpuUsage();
  const roads = [
    detailedPathV0(scope, { source, place: { package: 'p', channel: 'stable' } }, from),
    detailedPathV1(scope, { package: 'p', channels: [], range: '' }, from),
  ];
  console.log(
    `next over ${count} entries: ${roads.flatMap(({ steps }) => steps).length} steps: ${milliseconds(before)} ms of CPU`,
  );
}

function milliseconds(since: NodeJS.CpuUsage): string {
  const { user, system } = process.cpuUsage(since);
  return ((user + system) / 1000).toFixed(0);
}
