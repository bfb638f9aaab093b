/** The publish function on AWS Lambda, called with a message as its event. */
import { handlePublish, type PublishAnswer, readMessage } from '../publish.ts';
import { host } from './env.ts';

/**
 * @param event a {@link import('../publish.ts').PublishMessage}
 * @throws what the stage throws: Lambda reports its name and message, and the caller may try again
 */
export async function handler(event: unknown): Promise<PublishAnswer> {
  return handlePublish(readMessage(event), host());
}
