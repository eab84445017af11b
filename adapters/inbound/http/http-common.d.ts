/** The parser of Node (llhttp), which Bun has built in and says nothing of in its types. `parser.ts` is the one door to it. */
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
    /** How many octets were read, or why no more can be. What a callback throws, it throws. */
    execute(
      octets: Uint8Array,
    ): number | (Error & { readonly code: string; readonly reason: string; readonly bytesParsed: number });
    close(): void;
    [callback: number]: OnHeaders | OnHeadersComplete | ((octets: Buffer) => void) | (() => void);
  }
  export const methods: readonly string[];
}
