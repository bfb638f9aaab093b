/** The queue of reports: what became of merges is reported to GitHub and on the bus, each report with its own tries. */
import { handleReport } from '../../pipeline/publish/delivery/report.ts';
import { handleDeliveries, type SqsEvent } from './deliveries.ts';
import { settings } from './env.ts';
import { telemetryOf } from './log.ts';
import { reportPortsOf } from './ports.ts';

const telemetry = telemetryOf('report');
const read = settings();
const ports = reportPortsOf(read, telemetry);

/** Reports what messages of the queue say. */
export function handler(event: SqsEvent): Promise<unknown> {
  return handleDeliveries(event, {
    queue: read.reports,
    telemetry,
    failed: 'ReportFailed',
    handle: ({ body }) => handleReport(body, ports),
  });
}
