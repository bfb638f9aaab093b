import { expect, test } from 'vitest';
import { telemetryOf } from '../../../functions/kubernetes/telemetry.ts';

test('a line of the log is one line of JSON, whatever people wrote into a catalog', () => {
  const lines: string[] = [];
  telemetryOf('work', (line) => lines.push(line)).log('bad\u001b[31m name\n{"role": "forged"}');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[ -~]*$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ role: 'work', time: expect.stringMatching(/Z$/) });
});

test('what is counted, timed and queued is scraped, by repository', async () => {
  const telemetry = telemetryOf('work', () => undefined);
  telemetry.count('WorkFailed', 'sea/catalogs');
  telemetry.count('WorkFailed', 'sea/catalogs');
  telemetry.count('WorkFailed', 'sea/others');
  telemetry.time('WorkDuration', 1500);
  telemetry.measured('build', 4, 'sea/catalogs');
  telemetry.measured('lag', 40, 'sea/catalogs');
  telemetry.depths(async () => ({
    work: { messages: 7, oldest: 90 },
    aside: { messages: 1, oldest: 5 },
  }));
  const text = await telemetry.metrics();
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="sea/catalogs",role="work"} 2');
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="sea/others",role="work"} 1');
  expect(text).toContain(
    'portolan_duration_seconds_bucket{le="2",role="work",event="WorkDuration",repository=""} 1',
  );
  expect(text).toContain('portolan_messages{queue="work",role="work"} 7');
  expect(text).toContain('portolan_messages{queue="aside",role="work"} 1');
  expect(text).toContain('portolan_oldest_message_seconds{queue="work",role="work"} 90');
  expect(text).toContain('portolan_database_up{role="work"} 1');
  expect(text).toMatch(
    /portolan_step_seconds_bucket\{le="5",role="work",step="build",repository="sea\/catalogs"\} 1/,
  );
  expect(text).toMatch(
    /portolan_publish_lag_seconds_bucket\{le="60",role="work",repository="sea\/catalogs"\} 1/,
  );
});

test.each([
  ['refuses', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise<never>(() => undefined)],
])('while the database %s, all other numbers are scraped, and old depths are not', async (_, down) => {
  const telemetry = telemetryOf('work', () => undefined);
  let isUp = true;
  telemetry.depths(() => (isUp ? Promise.resolve({ work: { messages: 7, oldest: 90 } }) : down()));
  telemetry.count('WorkFailed');
  expect(await telemetry.metrics()).toContain('portolan_messages{queue="work",role="work"} 7');
  isUp = false;
  const text = await telemetry.metrics();
  expect(text).toContain('portolan_database_up{role="work"} 0');
  expect(text).toContain('portolan_events_total{event="WorkFailed",repository="",role="work"} 1');
  expect(text).not.toContain('portolan_messages{');
  expect(text).not.toContain('portolan_oldest_message_seconds{');
});
