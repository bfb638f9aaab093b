import { expect, test } from 'vitest';
import { telemetryOf } from '../../../functions/kubernetes/telemetry.ts';

test('a line of the log is one line of JSON, whatever people wrote into a catalog', () => {
  const lines: string[] = [];
  telemetryOf('work', (line) => lines.push(line)).log('bad\u001b[31m name\n{"role": "forged"}');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[ -~]*$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ role: 'work', time: expect.stringMatching(/Z$/) });
});

test('what is counted, timed and queued is scraped', async () => {
  const telemetry = telemetryOf('work', () => undefined);
  telemetry.count('WorkFailed');
  telemetry.count('WorkFailed');
  telemetry.time('WorkDuration', 1500);
  telemetry.depths(async () => ({ work: 7, aside: 1 }));
  const text = await telemetry.metrics();
  expect(text).toContain('portolan_events_total{event="WorkFailed",role="work"} 2');
  expect(text).toContain('portolan_duration_seconds_bucket{le="2",role="work",event="WorkDuration"} 1');
  expect(text).toContain('portolan_messages{queue="work",role="work"} 7');
  expect(text).toContain('portolan_messages{queue="aside",role="work"} 1');
});
