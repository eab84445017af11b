import { serveAsset, serveMissing } from '../http/asset.ts';
import type { HttpResponse, Mount } from '../http/exchange.ts';
import { match, paths } from './app/paths.ts';
import { type Bundle, bundleApp, filesPath } from './bundle.ts';

/** Nothing from elsewhere, nothing inline, in no frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const secure = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

/** The web console at `/`: one document for all its pages, and the files that it loads. */
export function createConsole(): Mount {
  let bundle: Promise<Bundle> | undefined;
  /** Built when it is first asked for, so that it costs those nothing who never look at it. */
  const bundled = (): Promise<Bundle> => {
    bundle ??= bundleApp().catch((error) => {
      bundle = undefined;
      throw error;
    });
    return bundle;
  };
  return {
    prefix: '/',
    plainHttp: false,
    bodyLimit: 0,
    async handle(request) {
      const { method, path } = request;
      const file = path.startsWith(`${filesPath}/`) ? path.slice(filesPath.length + 1) : undefined;
      const isKnown = file !== undefined || paths.some((pattern) => match(pattern, path) !== undefined);
      if (!isKnown && (method !== 'GET' || isForPrograms(path))) return refuse(404, 'not found');
      if (method !== 'GET') {
        const { headers, ...refusal } = refuse(405, 'method not allowed');
        return { ...refusal, headers: { ...headers, allow: 'GET, HEAD' } };
      }
      const { page, files } = await bundled();
      if (!isKnown) return serveMissing(request, page, secure);
      if (file === undefined) return serveAsset(request, page, { ...secure, 'cache-control': 'no-cache' });
      const asset = files.get(file);
      if (!asset) return refuse(404, 'not found');
      return serveAsset(request, asset, {
        ...secure,
        'cache-control': 'public, max-age=31536000, immutable',
      });
    },
    // Nothing here takes a body: what is sent one is not here.
    refuse: (status, detail) => (status === 413 ? refuse(404, 'not found') : refuse(status, detail)),
  };
}

const programs: ReadonlySet<string> = new Set(['api', 'rest', '.well-known', 'crl', 'aia', 'console']);

/** Whether programs ask for this path: one of an API that nobody else answers, or a file. A page would tell them nothing. */
const isForPrograms = (path: string): boolean => {
  const segments = path.split('/');
  return programs.has(segments[1] ?? '') || segments.at(-1)?.includes('.') === true;
};

const refuse = (status: number, detail: string): HttpResponse => ({
  status,
  headers: { ...secure, 'content-type': 'application/json' },
  body: JSON.stringify({ detail }),
});
