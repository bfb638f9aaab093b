// node scripts/run.mjs test/bench/fleet.ts CHECKOUT [ROWS] [FILE]
//
// Without ROWS but with FILE, `0 FILE`, the rows are those of the file: what makes them then takes no memory.
// What becomes of a fleet: rows that are made from real catalogs (every installed version of every channel, in turn), read
// from CSV and counted. The catalogs are read before. With FILE the rows are also kept there.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatMinor } from '../../catalog/fbc/openshift.ts';
import { installationsOf } from '../../catalog/olm/foresight/installation.ts';
import type { World } from '../../catalog/olm/foresight/world.ts';
import { formatVersion } from '../../catalog/version/version.ts';
import { catalogPlaces, readCatalogs } from '../../pipeline/catalogs/read-catalogs.ts';
import { worldsOf } from '../../pipeline/check/audit.ts';
import { auditFleet } from '../../pipeline/check/fleet/fleet-audit.ts';
import { readFleet } from '../../pipeline/check/fleet/read-fleet.ts';

const [checkout = '', count = '100000', file] = process.argv.slice(2);
const ROWS = Number(count);
const root = join(checkout, 'catalogs');
const catalogs = await readCatalogs(
  catalogPlaces(
    readdirSync(root).map((name) => join(root, name)),
    process.cwd(),
  ),
);
const before = process.memoryUsage.rss();
const worlds = await worldsOf({ catalogs, olm: ['v0', 'v1'], today: '2026-01-01' });
const text = ROWS === 0 ? readFileSync(file ?? '', 'utf8') : tableOf(worlds);
if (file !== undefined && ROWS > 0) writeFileSync(file, text);
const [began, cpu] = [performance.now(), process.cpuUsage()];
const { fleet, bad } = readFleet([{ path: 'fleet.csv', text }]);
const read = performance.now();
const { report } = auditFleet(fleet, worlds);
const used = process.cpuUsage(cpu);
const sum = report.outcomes.reduce((all, { clusters }) => all + clusters, 0);
const most = process.resourceUsage().maxRSS / 1024;
console.log(
  `${text.split('\n').length - 2} rows (${(text.length / 1e6).toFixed(1)} MB), ${catalogs.length} catalogs, ${report.packages.length} packages, ${report.clusters} clusters: ` +
    `read ${Math.round(read - began)} ms, count ${Math.round(performance.now() - read)} ms, CPU ${Math.round((used.user + used.system) / 1000)} ms; ` +
    `resident before ${Math.round(before / 1e6)} MB, most ${Math.round(most)} MB; bad ${bad.length}; adds up: ${sum === report.clusters}`,
);
for (const { outcome, clusters } of report.outcomes) console.log(`  ${outcome}: ${clusters}`);

function tableOf(all: readonly World[]): string {
  const kinds = all.flatMap((world) =>
    [...world.catalog.packages.keys()].flatMap((name) =>
      installationsOf(world, name).flatMap(({ channel, installed }) =>
        installed.version && world.platform
          ? [`${formatMinor(world.platform)},${name},${formatVersion(installed.version)},${channel}`]
          : [],
      ),
    ),
  );
  const lines = ['cluster,platform,package,version,channel,approval,olm'];
  // Five packages on each cluster: a cluster has one platform.
  const byPlatform = new Map<string, string[]>();
  for (const kind of kinds) {
    const platform = kind.slice(0, kind.indexOf(','));
    byPlatform.set(platform, [...(byPlatform.get(platform) ?? []), kind]);
  }
  const platforms = [...byPlatform.values()];
  for (let row = 0; row < ROWS; row++) {
    const cluster = Math.floor(row / 5);
    const its = platforms[cluster % platforms.length] ?? kinds;
    const kind = its[(row * 7919) % its.length];
    lines.push(
      `cluster-${cluster},${kind},${row % 10 === 0 ? 'Manual' : 'Automatic'},${row % 4 === 0 ? 'v1' : 'v0'}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
