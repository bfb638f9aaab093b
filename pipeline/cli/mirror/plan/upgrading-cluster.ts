/** The cluster of `mirror plan --from`: read from its API, or from what `portolan inventory` printed. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isObject } from '../../../../catalog/go/shape.ts';
import { parsedJson } from '../../../../catalog/json.ts';
import type { ClusterOperator, UpgradingCluster } from '../../../../catalog/mirror/upgrade/cluster.ts';
import { tryParseVersion } from '../../../../catalog/version/version.ts';
import { readText } from '../../../directory.ts';
import { PipelineError } from '../../../error.ts';
import type { Terminal } from '../../../terminal.ts';
import type { Invocation } from '../../command.ts';
import { type InventoryRow, inventoryOf } from '../../inventory/inventory.ts';
import { readCluster } from '../../inventory/open-clusters.ts';

/**
 * The cluster to upgrade, from an inventory or from its API.
 *
 * @throws PipelineError `usage` unless it is one cluster with a version, and as `inventory`
 */
export async function upgradingCluster(
  from: string,
  invocation: Invocation,
  terminal: Terminal,
): Promise<UpgradingCluster> {
  const path = resolve(terminal.directory, from);
  // A context may have any name: a file that exists is meant as a file.
  if (existsSync(path)) return clusterIn(rowsOf(readText(path), from), from);
  const rows = await readCluster(invocation, terminal, {
    context: from,
    read: (api, name) => inventoryOf(api, { name, anonymize: false }),
  });
  return clusterIn(rows, from);
}

/** The rows of an inventory. @throws PipelineError `usage` for a text that is not one */
function rowsOf(text: string, from: string): InventoryRow[] {
  const value = parsedJson(text);
  const rows = isObject(value) && value['kind'] === 'Fleet' ? value['rows'] : undefined;
  if (!Array.isArray(rows))
    throw new PipelineError('usage', `${from} is not an inventory of a cluster`, {
      hint: 'portolan inventory > cluster.json',
    });
  return rows.map((row, i) => {
    if (isObject(row) && ['cluster', 'package', 'csv'].every((key) => typeof row[key] === 'string'))
      return row as unknown as InventoryRow;
    throw new PipelineError('usage', `${from}: rows[${i}] does not name a cluster, a package and a csv`);
  });
}

/** The cluster of an inventory. @throws PipelineError `usage` unless it has one cluster with a version */
function clusterIn(rows: readonly InventoryRow[], from: string): UpgradingCluster {
  const names = [...new Set(rows.map(({ cluster }) => cluster))];
  const [name] = names;
  if (name === undefined)
    throw new PipelineError(
      'usage',
      `${from} has no operators, so that only its releases are to be planned`,
      {
        hint: 'portolan mirror list releases --channel stable-4.20',
      },
    );
  if (names.length > 1)
    throw new PipelineError('usage', `${from} has ${names.length} clusters: ${names.join(', ')}`, {
      hint: 'portolan inventory --context NAME > cluster.json',
    });
  const written = rows.find(({ platform }) => platform !== undefined)?.platform ?? '';
  const platform = tryParseVersion(written);
  if (!platform)
    throw new PipelineError('usage', `${from} does not have the version of OpenShift, for example 4.18.12`);
  return { name, platform, operators: rows.map(operatorOf) };
}

/** The operator of a row. Rows of an anonymous inventory have neither namespace nor object. */
function operatorOf(row: InventoryRow): ClusterOperator {
  const { olm, csv, version = '', channels = [], range = '', namespace = '', approval } = row;
  return {
    olm: olm === 'v1' ? 'v1' : 'v0',
    package: row.package,
    channels,
    range,
    installed: { name: csv, version: tryParseVersion(version) },
    namespace,
    name: row.object ?? row.package,
    // OLM v1 has no approvals.
    isManual: olm !== 'v1' && approval === 'Manual',
  };
}
