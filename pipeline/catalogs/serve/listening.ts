/** A server that listens. */
export interface Listening {
  readonly port: number;
  /** Takes no more requests and settles when those under way have ended. */
  close(): Promise<void>;
}
