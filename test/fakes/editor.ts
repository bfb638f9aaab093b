/** An editor that speaks the Language Server Protocol with a program of its own. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection,
  type Diagnostic,
  type Message,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

export interface Editor {
  readonly connection: ProtocolConnection;
  /** Opens a file; settles with its findings once all of it is checked. */
  open(path: string, text: string): Promise<readonly Diagnostic[]>;
  /** Replaces text between two places; settles with the findings of this version. */
  edit(path: string, edit: Edit): Promise<readonly Diagnostic[]>;
  /** Says that something else changed files on the disk; settles with what is found in an open one then. */
  changed(paths: readonly string[], open: string): Promise<readonly Diagnostic[]>;
  request<T>(method: string, path: string, more?: object): Promise<T>;
  /** Ends the session. @returns the exit code */
  close(): Promise<number | null>;
  /** Settles with the exit code. */
  readonly ended: Promise<number | null>;
  /** Findings as they came. */
  readonly published: readonly Published[];
  /** All messages so far, in their order. */
  readonly messages: readonly Recorded[];
  /** Most memory of the server so far, in MB. */
  memory(): number;
  /** Milliseconds of CPU that the server took so far. */
  spent(): number;
}

export interface Recorded {
  readonly from: 'editor' | 'server';
  /** When it was written or read, as `performance.now()` counts. */
  readonly at: number;
  readonly message: Message;
}

export interface Published {
  readonly uri: string;
  readonly version: number;
  readonly diagnostics: readonly Diagnostic[];
  /** When they came, as `performance.now()` counts. */
  readonly at: number;
}

/** Lines and characters count from 0. */
export interface Edit {
  readonly from: readonly [line: number, character: number];
  readonly to: readonly [line: number, character: number];
  readonly text: string;
}

/** @param program the words that start the server */
export async function startEditor([file = '', ...words]: readonly string[]): Promise<Editor> {
  const server = spawn(file, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => server.once('exit', resolve));
  const messages: Recorded[] = [];
  const record = (from: Recorded['from'], message: Message): void =>
    void messages.push({ from, at: performance.now(), message });
  const reader = new StreamMessageReader(server.stdout);
  const listen = reader.listen.bind(reader);
  reader.listen = (callback) =>
    listen((message) => {
      record('server', message);
      callback(message);
    });
  const writer = new StreamMessageWriter(server.stdin);
  const write = writer.write.bind(writer);
  writer.write = (message) => {
    record('editor', message);
    return write(message);
  };
  const connection = createProtocolConnection(reader, writer);
  const published: Published[] = [];
  const versions = new Map<string, number>();
  connection.onNotification(
    'textDocument/publishDiagnostics',
    (found: Omit<Published, 'at'>) => void published.push({ ...found, at: performance.now() }),
  );
  connection.onRequest('client/registerCapability', () => null);
  connection.listen();
  const capabilities = { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } };
  await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities });
  await connection.sendNotification('initialized', {});
  /** The last findings of a version: what is asked behind it is answered once all of it is checked. */
  const settled = async (uri: string, version: number): Promise<readonly Diagnostic[]> => {
    await connection.sendRequest('textDocument/hover', {
      textDocument: { uri },
      position: { line: 0, character: 0 },
    });
    const last = published.findLast((found) => found.uri === uri && found.version === version);
    if (!last) throw new Error(`no findings of version ${version} of ${uri}`);
    return last.diagnostics;
  };
  return {
    connection,
    published,
    messages,
    open: async (path, text) => {
      const uri = pathToFileURL(path).href;
      versions.set(uri, 1);
      const textDocument = { uri, languageId: 'yaml', version: 1, text };
      await connection.sendNotification('textDocument/didOpen', { textDocument });
      return settled(uri, 1);
    },
    edit: async (path, { from, to, text }) => {
      const uri = pathToFileURL(path).href;
      const version = (versions.get(uri) ?? 0) + 1;
      versions.set(uri, version);
      const place = ([line, character]: Edit['from']) => ({ line, character });
      const contentChanges = [{ range: { start: place(from), end: place(to) }, text }];
      await connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version },
        contentChanges,
      });
      return settled(uri, version);
    },
    changed: async (paths, open) => {
      const changes = paths.map((path) => ({ uri: pathToFileURL(path).href, type: 2 }));
      await connection.sendNotification('workspace/didChangeWatchedFiles', { changes });
      const uri = pathToFileURL(open).href;
      return settled(uri, versions.get(uri) ?? 0);
    },
    request: (method, path, more = {}) =>
      connection.sendRequest(method, { textDocument: { uri: pathToFileURL(path).href }, ...more }),
    close: async () => {
      await connection.sendRequest('shutdown');
      await connection.sendNotification('exit');
      return ended;
    },
    ended,
    memory: () => memoryOf(server.pid),
    spent: () => spentBy(server.pid),
  };
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function spentBy(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // Of user and system, in hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
