/** The files of a chart, and the charts that are missing in it. */
import { expect, test } from 'vitest';
import { readChartFiles } from '../../../../pipeline/mirror/charts/chart-files.ts';
import { folder } from '../../../fakes/folder.ts';

test('a packed chart stands for the chart of its name only, not for one whose name it begins with', async () => {
  const names = ['redis', 'redis-7', 'redis-cluster', 'tools', 'short'];
  const dependencies = names.map((name) => `{name: ${name}}`).join(', ');
  const chart = folder({
    'Chart.yaml': `apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies: [${dependencies}]\n`,
    'charts/redis-cluster-1.0.0.tgz': '',
    'charts/redis-7-1.0.0.tgz': '',
    'charts/tools-v2.1.0-rc.1.tgz': '',
    'charts/short-1.2.tgz': '',
  });
  const { unseen } = await readChartFiles(chart, folder());
  expect([...unseen].sort()).toEqual([
    'charts/redis-7-1.0.0.tgz',
    'charts/redis-cluster-1.0.0.tgz',
    'charts/short-1.2.tgz',
    'charts/tools-v2.1.0-rc.1.tgz',
    'redis',
  ]);
});
