import type { Socket } from 'bun';

/** A client certificate with its key (PEM). */
export interface Credential {
  readonly certificate: string;
  readonly privateKey: string;
}

/** An HTTP/1.1 client with only what the benchmark needs, so that it uses little CPU time. */
export class Client {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<number> | undefined;
  #closed = Promise.withResolvers<void>();
  isOpen = true;
  #status = 0;
  #head = '';
  /** Octets of the body not yet received; undefined before the end of the header. */
  #missing: number | undefined;

  /** Connects to this machine over TLS, always with a full handshake. */
  static async open(port: number, credential?: Credential): Promise<Client> {
    const ready = Promise.withResolvers<void>();
    let client: Client | undefined;
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      tls: {
        rejectUnauthorized: false,
        ...(credential && { cert: credential.certificate, key: credential.privateKey }),
      },
      socket: {
        handshake: () => ready.resolve(),
        data: (_, octets) => client?.receive(octets),
        close() {
          ready.reject(new Error('the server closed the connection'));
          client?.end();
        },
        error: (_, error) => ready.reject(error),
      },
    });
    client = new Client(socket);
    await ready.promise;
    return client;
  }

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends a request, one octet per character. Returns the status once the response is complete. */
  exchange(request: string): Promise<number> {
    this.#waiting = Promise.withResolvers<number>();
    this.#socket.write(Buffer.from(request, 'latin1'));
    return this.#waiting.promise;
  }

  receive(octets: Buffer): void {
    if (this.#missing === undefined) {
      const head = this.#head + octets.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) {
        this.#head = head;
        return;
      }
      this.#status = Number(head.slice(9, 12));
      const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? [];
      this.#missing = Number(length) - (head.length - end - 4);
    } else {
      this.#missing -= octets.length;
    }
    if (this.#missing > 0) return;
    this.#head = '';
    this.#missing = undefined;
    this.#waiting?.resolve(this.#status);
  }

  end(): void {
    this.isOpen = false;
    this.#waiting?.reject(new Error('the server closed the connection'));
    this.#closed.resolve();
  }

  /** Closes the connection. Resolves when the server has closed it too. */
  close(): Promise<void> {
    this.#waiting = undefined;
    this.#socket.end();
    return this.#closed.promise;
  }
}
