/** A fence in a table of DynamoDB: an item for each name's claim and one for its lease, written on a condition. */
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Fence } from '../../pipeline/ports.ts';
import {
  claimText,
  leaseText,
  nextLease,
  parseClaim,
  parseLease,
} from '../../pipeline/publish/fence-records.ts';
import { ASKING, cloudError } from '../s3/failure.ts';

/**
 * A fence in a DynamoDB table.
 *
 * @throws PipelineError from its functions: without the table nothing is claimed, and no tag moves
 */
export function tableFence(table: string): Fence {
  const client = new DynamoDBClient(ASKING);
  /** @returns the attribute of the item with this key; undefined if there is none */
  const get = (key: string, attribute: string) =>
    cloudError(`the table ${table}`, async () => {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: { name: { S: key } }, ConsistentRead: true }),
      );
      return Item?.[attribute]?.S;
    });
  /** @returns false, and nothing is written, when another sequence than the one before stands there */
  const put = (key: string, attribute: string, { sequence, text }: Numbered) =>
    cloudError(`the table ${table}`, async () => {
      const Item = { name: { S: key }, sequence: { N: String(sequence) }, [attribute]: { S: text } };
      const condition = conditionOf(sequence === 1 ? undefined : sequence - 1);
      try {
        await client.send(new PutItemCommand({ TableName: table, Item, ...condition }));
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    });
  return {
    read: async (name) => {
      const text = await get(name, 'claim');
      if (text === undefined) return undefined;
      const claim = parseClaim(text, `${table}/${name}`);
      return { ...claim, version: String(claim.sequence) };
    },
    replace: async (name, claim, standing) => {
      const sequence = (standing?.sequence ?? 0) + 1;
      const text = claimText({ ...claim, sequence });
      const isOurs = await put(name, 'claim', { sequence, text });
      return isOurs ? { ...claim, sequence, version: String(sequence) } : undefined;
    },
    readLease: async (name) => {
      const text = await get(`${name}${LEASE}`, 'lease');
      if (text === undefined) return undefined;
      const lease = parseLease(text, `${table}/${name}${LEASE}`);
      return { ...lease, version: String(lease.turn) };
    },
    replaceLease: async (name, until, standing) => {
      const lease = nextLease(until, standing);
      const isOurs = await put(`${name}${LEASE}`, 'lease', { sequence: lease.turn, text: leaseText(lease) });
      return isOurs ? { ...lease, version: String(lease.turn) } : undefined;
    },
  };
}

/** Ends the key of a lease; no name of a fence has it. */
const LEASE = '#lease';

/** A claim or a lease as it is stored: DynamoDB compares the number, and only this code reads the text. */
interface Numbered {
  readonly sequence: number;
  readonly text: string;
}

/** The condition of a write: that the sequence is still the one that was read, or that there is none yet. */
function conditionOf(sequence: number | undefined) {
  const ExpressionAttributeNames = { '#sequence': 'sequence' };
  if (sequence === undefined) {
    return { ConditionExpression: 'attribute_not_exists(#sequence)', ExpressionAttributeNames };
  }
  return {
    ConditionExpression: '#sequence = :read',
    ExpressionAttributeNames,
    ExpressionAttributeValues: { ':read': { N: String(sequence) } },
  };
}
