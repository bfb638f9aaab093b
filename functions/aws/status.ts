/** What is published, for `portolan status`. */
import { type DeliveryStatus, statusOf } from '../../pipeline/publish/delivery/status.ts';
import { bucketRecords } from '../s3/records.ts';
import { settings } from './env.ts';

const { bucket, endpoint } = settings();
const records = bucketRecords({ bucket, prefix: '', inPath: endpoint !== undefined });

/** The status by the records alone: this function may read neither branches nor registries. */
export async function handler(): Promise<DeliveryStatus> {
  return statusOf(records);
}
