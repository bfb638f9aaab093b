/** A fence in a table of DynamoDB: one item for each name, written on a condition. */
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Fence } from '../../pipeline/ports.ts';
import { claimText, parseClaim } from '../../pipeline/publish/fence-records.ts';
import { ASKING } from './client.ts';
import { cloudError } from './failure.ts';

/** @throws PipelineError from its functions: without the table nothing is claimed, and no tag moves */
export function tableFence(table: string): Fence {
  const client = new DynamoDBClient(ASKING);
  return {
    read: (name) =>
      cloudError(`the table ${table}`, async () => {
        const { Item } = await client.send(
          new GetItemCommand({ TableName: table, Key: { name: { S: name } }, ConsistentRead: true }),
        );
        const text = Item?.['claim']?.S;
        if (text === undefined) return undefined;
        const claim = parseClaim(text, `${table}/${name}`);
        return { ...claim, version: String(claim.sequence) };
      }),
    replace: (name, claim, standing) =>
      cloudError(`the table ${table}`, async () => {
        const sequence = (standing?.sequence ?? 0) + 1;
        try {
          await client.send(
            new PutItemCommand({
              TableName: table,
              Item: {
                name: { S: name },
                sequence: { N: String(sequence) },
                claim: { S: claimText({ ...claim, sequence }) },
              },
              ...conditionOf(standing?.sequence),
            }),
          );
        } catch (error) {
          if (error instanceof ConditionalCheckFailedException) return undefined;
          throw error;
        }
        return { ...claim, sequence, version: String(sequence) };
      }),
  };
}

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
