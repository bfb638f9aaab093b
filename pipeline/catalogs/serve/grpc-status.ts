/** How a call ends. @see https://github.com/grpc/grpc/blob/master/doc/statuscodes.md */
export const Status = {
  ok: 0,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const;
export type Status = (typeof Status)[keyof typeof Status];

/** A call that ends without an answer; the message is for the client. */
export class GrpcFailure extends Error {
  readonly status: Status;

  constructor(status: Status, message: string) {
    super(message);
    this.name = 'GrpcFailure';
    this.status = status;
  }
}
