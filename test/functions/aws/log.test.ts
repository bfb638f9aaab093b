import { afterEach, expect, test, vi } from 'vitest';
import { telemetryOf } from '../../../functions/aws/log.ts';

afterEach(() => void vi.unstubAllEnvs());

test('metrics of two stacks in an account are told apart by a dimension', () => {
  vi.stubEnv('PORTOLAN_STACK', 'sea');
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const telemetry = telemetryOf('reconcile');
  telemetry.count('ReconcileFailed');
  telemetry.flush();
  const [line = ''] = written.mock.calls.flat().map(String);
  written.mockRestore();
  const { _aws: aws, ...values } = JSON.parse(line);
  expect(values).toMatchObject({ service: 'reconcile', stack: 'sea', ReconcileFailed: 1 });
  expect(aws.CloudWatchMetrics[0].Dimensions).toEqual([['service', 'stack']]);
});
