/** Node's HTTP parser (llhttp). Bun contains it but does not declare its types. Only `parser.ts` uses it. */
declare module 'node:_http_common' {
  type OnHeaders = (fields: string[], target: string) => void;
  type OnHeadersComplete = (
    major: number,
    minor: number,
    /** Undefined or null when the fields came through `kOnHeaders`, and the target with them. */
    fields: string[] | null | undefined,
    method: number,
    target: string | null | undefined,
    status: unknown,
    reason: unknown,
    upgrade: boolean,
    shouldKeepAlive: boolean,
  ) => number;

  export class HTTPParser {
    static readonly REQUEST: number;
    static readonly kLenientNone: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    initialize(type: number, resource: object, maxHeaderSize: number, lenient: number): void;
    /** Returns the number of octets read, or an error. Exceptions of callbacks pass through. */
    execute(
      octets: Uint8Array,
    ): number | (Error & { readonly code: string; readonly reason: string; readonly bytesParsed: number });
    close(): void;
    [callback: number]: OnHeaders | OnHeadersComplete | ((octets: Buffer) => void) | (() => void);
  }
  export const methods: readonly string[];
}
