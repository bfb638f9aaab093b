/** A line of TCP that takes its time, as to a registry far away. */
import { connect, createServer, type Socket } from 'node:net';

export interface Distance {
  /** Ports of loopback: where it listens, where it leads. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds there and back. */
  readonly roundTrip: number;
}

/** Hands bytes on after half a round trip, each way, in their order. */
export function distance({ from, to, roundTrip }: Distance): Promise<void> {
  const later = (source: Socket, target: Socket): void => {
    source.on('data', (chunk) => setTimeout(() => target.writable && target.write(chunk), roundTrip / 2));
    source.on('end', () => setTimeout(() => target.end(), roundTrip / 2));
    source.on('error', () => target.destroy());
  };
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    // The handshake of TCP is one round trip too.
    socket.pause();
    setTimeout(() => {
      const target = connect({ port: to, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
      later(socket, target);
      later(target, socket);
      socket.resume();
    }, roundTrip);
  });
  return new Promise((done) => server.listen(from, '127.0.0.1', done));
}
