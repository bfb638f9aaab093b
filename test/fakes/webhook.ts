/** Events as GitHub signs them. */
import { createHmac } from 'node:crypto';
import type { Delivery } from '../../functions/receive.ts';

/** A push to `main`, as of the tenth of January 2026. */
export function signedPush(of: {
  readonly id: number;
  readonly secret: string;
  readonly commit: string;
}): Delivery {
  const repository = { id: of.id, pushed_at: Date.UTC(2026, 0, 10) / 1000 };
  const body = JSON.stringify({ ref: 'refs/heads/main', after: of.commit, deleted: false, repository });
  const signature = `sha256=${createHmac('sha256', of.secret).update(body).digest('hex')}`;
  return {
    headers: { 'x-github-event': 'push', 'x-hub-signature-256': signature },
    body: new TextEncoder().encode(body),
  };
}
