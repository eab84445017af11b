import { type Asset, createAsset } from '../http/asset.ts';

export interface Bundle {
  /** The document that every path of the console is answered with. */
  readonly page: Asset;
  /** By file name; a name says what is in the file, so what a name stands for never changes. */
  readonly files: ReadonlyMap<string, Asset>;
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Where files are served. */
export const filesPath = '/console';

/** Builds the client. Throws an AggregateError that says what does not compile. */
export async function bundleApp(): Promise<Bundle> {
  const { outputs } = await Bun.build({
    entrypoints: ['app/main.tsx', 'app/early.ts', 'app/console.css'].map(
      (entry) => new URL(entry, import.meta.url).pathname,
    ),
    target: 'browser',
    minify: true,
    naming: '[name]-[hash].[ext]',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const files = new Map(
    await Promise.all(
      outputs.map(async (output): Promise<[string, Asset]> => {
        const name = output.path.slice(output.path.lastIndexOf('/') + 1);
        const type = contentTypes[name.slice(name.lastIndexOf('.') + 1)];
        if (type === undefined) throw new Error(`${name}: no such file was expected`);
        return [name, await createAsset(type, new Uint8Array(await output.arrayBuffer()))];
      }),
    ),
  );
  return {
    page: await createAsset('text/html; charset=utf-8', Buffer.from(document([...files.keys()]))),
    files,
  };
}

function document(names: readonly string[]): string {
  const url = (entry: string): string => `${filesPath}/${names.find((name) => name.startsWith(`${entry}-`))}`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Postern</title>
    <link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
    <link rel="stylesheet" href="${url('console')}">
    <script src="${url('early')}"></script>
    <script type="module" src="${url('main')}"></script>
  </head>
  <body>
    <div id="console"></div>
    <noscript>The console needs JavaScript. Everything that it does can be done over the Management API too: /api/schema/swagger-ui/</noscript>
  </body>
</html>
`;
}

/** The gate in the wall. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5c63"/>' +
  '<path d="M9 26V14a7 7 0 0 1 14 0v12h-4v-6.500a3 3 0 0 0-6 0V26z" fill="#fff"/></svg>';
