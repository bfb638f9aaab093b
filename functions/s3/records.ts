/** Records in a bucket of S3, whose conditional writes compare ETags. */
import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import { compareText } from '../../catalog/go/text.ts';
import type { RecordStore } from '../../pipeline/ports.ts';
import { ASKING, cloudError, isStatus } from './failure.ts';

interface BucketOptions {
  readonly bucket: string;
  /** Put before every key; empty, or ends with a slash. */
  readonly prefix: string;
  /** Buckets as part of the path, for what stands in for S3 elsewhere. */
  readonly inPath: boolean;
}

/** Records in an S3 bucket. @throws PipelineError from its functions */
export function bucketRecords({ bucket, prefix, inPath }: BucketOptions): RecordStore {
  const client = new S3Client({ ...ASKING, forcePathStyle: inPath });
  const at = (key: string) => ({ Bucket: bucket, Key: `${prefix}${key}` });
  const put = async (input: PutObjectCommandInput): Promise<void> => {
    await client.send(new PutObjectCommand({ ContentType: typeOf(input.Key ?? ''), ...input }));
  };
  return {
    get: (key) =>
      cloudError(`s3://${bucket}/${prefix}${key}`, async () => {
        try {
          const { Body, ETag } = await client.send(new GetObjectCommand(at(key)));
          const bytes = await Body?.transformToByteArray();
          return bytes && ETag !== undefined ? { bytes, version: ETag } : undefined;
        } catch (error) {
          if (isStatus(error, 404)) return undefined;
          throw error;
        }
      }),
    put: (key, bytes) => cloudError(`s3://${bucket}/${prefix}${key}`, () => put({ ...at(key), Body: bytes })),
    replace: (key, bytes, version) =>
      cloudError(`s3://${bucket}/${prefix}${key}`, async () => {
        const condition = version === undefined ? { IfNoneMatch: '*' } : { IfMatch: version };
        try {
          await put({ ...at(key), Body: bytes, ...condition });
          return true;
        } catch (error) {
          // 409: another conditional write of this key is under way. 404: the record was removed since it was read.
          if (isStatus(error, 412) || isStatus(error, 409) || isStatus(error, 404)) return false;
          throw error;
        }
      }),
    list: (start) =>
      cloudError(`s3://${bucket}/${prefix}${start}`, async () => {
        const keys: string[] = [];
        for (let token: string | undefined; ; ) {
          const page = await client.send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: `${prefix}${start}`,
              ContinuationToken: token,
            }),
          );
          for (const { Key } of page.Contents ?? [])
            if (Key !== undefined) keys.push(Key.slice(prefix.length));
          token = page.NextContinuationToken;
          if (token === undefined) return keys.sort(compareText);
        }
      }),
  };
}

/** The content type of a record, because people read documents in a browser. */
function typeOf(key: string): string {
  if (key.endsWith('.html')) return 'text/html; charset=utf-8';
  return /\.(?:yaml|txt)$/.test(key) ? 'text/plain; charset=utf-8' : 'application/json';
}
