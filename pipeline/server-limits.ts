/** Limits of the servers that strangers can reach: how many connections one address may hold, and under which names they answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP, isIPv6, type Server, type Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at once. */
  readonly total: number;
  /** Connections at once from one address; an IPv6 network of 64 bits counts as one. */
  readonly perAddress: number;
  /**
   * What a connection beyond a limit does: `refuse` closes it. `replace` closes the oldest connection of its address, or of
   * the address that holds the most. Choose `replace` where requests are short, so that old connections are slow ones.
   * `replace-waiting` does the same with connections whose request has not come yet, and else refuses.
   */
  readonly beyond: 'refuse' | 'replace' | 'replace-waiting';
}

/** Limits the connections of a server that does not listen yet. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Map<string, Set<Socket>>();
  const isAnswered = limits.beyond === 'replace-waiting' ? answeredSockets(server) : () => false;
  let total = 0;
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const own = open.get(address) ?? new Set();
    const isBeyond = own.size >= limits.perAddress;
    if (isBeyond || total >= limits.total) {
      // Of its own address if that has too many, else of the one with the most: sets have the oldest first.
      const oldest =
        limits.beyond === 'refuse'
          ? undefined
          : [...(isBeyond ? own : largestOf(open))].find((one) => !one.destroyed && !isAnswered(one));
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      oldest.destroy();
    }
    total++;
    open.set(address, own.add(socket));
    socket.once('close', () => {
      total--;
      own.delete(socket);
      if (own.size === 0) open.delete(address);
    });
  });
}

/** Requests of one connection that wait for an answer at most. */
const MOST_WAITING = 100;

/**
 * Answers the requests of a connection one after the other: who sends many, and reads no answer, costs no more than one. A
 * connection with too many of them ends. A request with two values for what has one gets status 400.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const line = waiting.get(socket) ?? [];
    waiting.set(socket, line);
    const start = (): void => {
      response.once('close', () => {
        line.shift();
        line[0]?.();
      });
      if (hasTwoValues(request)) response.writeHead(400, { connection: 'close' }).end();
      else listener(request, response);
    };
    line.push(start);
    if (line.length === 1) start();
    else if (line.length > MOST_WAITING) socket.destroy();
  };
}

/**
 * Whether Node has dropped a line of the head, such as a second `Host` or `Authorization`: a proxy before this server may have
 * decided by the line that was dropped.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112.html#section-3.2
 */
function hasTwoValues({ headers, headersDistinct }: IncomingMessage): boolean {
  // Where a header may come several times, Node joins its values; else it keeps the first one alone.
  return Object.entries(headersDistinct).some(
    ([name, values = []]) => values.length > 1 && headers[name] === values[0],
  );
}

/** Tells connections on which a request is being answered, of servers for HTTP. */
function answeredSockets(server: Server): (socket: Socket) => boolean {
  const answered = new Map<string, number>();
  // With TLS, a request has another socket than the connection.
  const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const name = nameOf(socket);
    answered.set(name, (answered.get(name) ?? 0) + 1);
    response.once('close', () => {
      const left = (answered.get(name) ?? 0) - 1;
      if (left > 0) answered.set(name, left);
      else answered.delete(name);
    });
  });
  return (socket) => answered.has(nameOf(socket));
}

/** The connections of the address that holds the most, the oldest first; none if there are none. */
function largestOf(open: ReadonlyMap<string, ReadonlySet<Socket>>): ReadonlySet<Socket> {
  let largest: ReadonlySet<Socket> = new Set();
  for (const own of open.values()) if (own.size > largest.size) largest = own;
  return largest;
}

/** A sender of something that is not complete yet, and the bytes that have come of it. */
export interface HeldBytes {
  bytes: number;
  readonly end: () => void;
}

/** Memory for what strangers have begun to send. */
export interface Room {
  /**
   * Says how many bytes have come from a sender. Without room for them, those who have sent most are ended: who sends much
   * and slowly must not keep others out.
   *
   * @returns false if this sender is one of those to end
   */
  hold(one: HeldBytes, bytes: number): boolean;
  /** Says that all has come from a sender, who may not be ended now. */
  keep(one: HeldBytes): void;
  /** Gives back what a sender holds. */
  free(one: HeldBytes): void;
}

/** Memory that all senders of a server share. @param most bytes of all senders */
export function createRoom(most: number): Room {
  let total = 0;
  const sending = new Set<HeldBytes>();
  const free = (one: HeldBytes): void => {
    total -= one.bytes;
    one.bytes = 0;
    sending.delete(one);
  };
  return {
    hold: (one, bytes) => {
      total += bytes - one.bytes;
      one.bytes = bytes;
      sending.add(one);
      while (total > most) {
        const largest = [...sending].reduce((a, b) => (b.bytes > a.bytes ? b : a));
        if (largest === one) return false;
        free(largest);
        largest.end();
      }
      return true;
    },
    keep: (one) => void sending.delete(one),
    free,
  };
}

/** What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, which one customer gets. */
export function networkOf(address: string): string {
  // A socket for both families writes IPv4 addresses in this way.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  // A zone may follow, as in `fe80::1%eth0`; `::` stands for as many zeros as are missing of eight groups.
  const [before = '', after] = address.split('%', 1)[0]?.split('::') ?? [];
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: zeros }, () => '0'), ...tail].slice(0, 4).join(':');
}

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host);
}

/**
 * Whether a request names this machine, as all do that reach a loopback address without a trick: by an address, or as
 * `localhost`. A page of anybody in a browser here may have a name that its owner lets stand for 127.0.0.1, and could
 * read all answers.
 */
export function namesThisMachine({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  // Browsers always send a host: without one, the request is not from a page.
  return host === '' || isIP(host) !== 0 || /^(?:[^/@]+\.)?localhost\.?$/i.test(host);
}

/** A server that listens. */
export interface Listening {
  readonly port: number;
  /** Takes no more requests and settles when those under way have ended. */
  close(): Promise<void>;
}
